/** Framework time and history of a step, and steps a second with many sessions. */
import { readEvents, waitIdle } from '../src/client/index.ts';
import { workflowId } from '../src/domain/ids.ts';
import { QUERIES } from '../src/workflows/contract.ts';
import type { Stage } from './stage.ts';
import { spread } from './statistics.ts';
import type { Row } from './statistics.ts';

const PATIENCE = new AbortController().signal;

/** One session: the time from one model request to the next, as the model's own log has it. */
export async function measureSteps(stage: Stage): Promise<Row[]> {
  const rows: Row[] = [];
  const bytes: number[] = [];
  for (const steps of [50, 150]) {
    stage.model.requests.length = 0;
    const answered = stage.countAnswers(1);
    const session_id = await stage.startSession(steps);
    await answered;
    await waitIdle(stage.service, session_id, { signal: PATIENCE });
    const times = stage.model.requests.map((request) => Date.parse(request.at));
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    if (steps === 150) rows.push(...spread('step, one session', 'ms', gaps, 40));
    bytes.push((await historyBeyondContent(stage, session_id)) / steps);
  }
  const [short = 0, long = 0] = bytes;
  rows.push(
    {
      what: 'history a step beyond content, 50 steps',
      value: short,
      unit: 'bytes',
      at_most: 3_000,
      samples: 1,
    },
    {
      what: 'history a step beyond content, 150 steps',
      value: long,
      unit: 'bytes',
      at_most: 3_000,
      samples: 1,
    },
  );
  return rows;
}

async function historyBeyondContent(stage: Stage, session_id: string): Promise<number> {
  const described = await stage.service.call(async (client) =>
    client.workflow.getHandle(workflowId(session_id)).describe(),
  );
  let content = 0;
  for await (const event of readEvents(stage.service, session_id, 1)) {
    if (event.type === 'assistant_message')
      content += Buffer.byteLength(event.text + event.tool_calls.map((call) => call.arguments).join(''));
    if (event.type === 'tool_result') content += Buffer.byteLength(event.output);
  }
  return (described.historySize ?? 0) - content;
}

/** The query by which a worker asks the workflow for events. */
export async function measureQuery(stage: Stage): Promise<Row[]> {
  const session_id = await stage.startSession(1);
  await waitIdle(stage.service, session_id, { signal: PATIENCE });
  const samples: number[] = [];
  await stage.service.call(
    async (client) => {
      const handle = client.workflow.getHandle(workflowId(session_id));
      for (let index = 0; index < 200; index += 1) {
        const start = performance.now();
        await handle.query(QUERIES.log, { after_seq: 5, max_bytes: 1_000_000 });
        samples.push(performance.now() - start);
      }
    },
    { deadline_ms: 60_000 },
  );
  return spread('query back to the workflow', 'ms', samples);
}

/**
 * Steps a second with a number of sessions at once; every one of them has to end well. Nobody follows the
 * sessions meanwhile: that would be measured too.
 */
export async function measureThroughput(stage: Stage, sessions: number, steps: number): Promise<Row> {
  const answered = stage.countAnswers(sessions);
  const start = performance.now();
  const ids = await Promise.all(Array.from({ length: sessions }, async () => stage.startSession(steps)));
  await answered;
  const seconds = (performance.now() - start) / 1000;
  let lost = 0;
  for (const id of ids) {
    const end = await waitIdle(stage.service, id, { signal: PATIENCE });
    if (end?.status !== 'success') lost += 1;
  }
  if (lost > 0) throw new Error(`Expected ${sessions} sessions to end well, found ${lost} that did not.`);
  return {
    what: `steps a second, ${sessions} sessions`,
    value: (sessions * steps) / seconds,
    unit: '/s',
    samples: sessions * steps,
  };
}
