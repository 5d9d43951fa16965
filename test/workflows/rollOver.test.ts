import { afterAll, beforeAll, expect, test } from 'vitest';
import { MESSAGE_MAX_BYTES } from '../../src/domain/limits.ts';
import { workflowId } from '../../src/domain/ids.ts';
import { type LogPage, type PageQuery, QUERIES } from '../../src/workflows/contract.ts';
import { calls, sessionRig, type SessionRig } from '../support/fakeActivities.ts';

let rig: SessionRig;
beforeAll(async () => {
  rig = await sessionRig();
});
afterAll(async () => rig[Symbol.asyncDispose]());

/** Together more than Temporal takes for the input of a workflow. */
const MESSAGES = 17;

test('more messages than continue-as-new could carry come while the archive can not be written, and none is lost', async () => {
  const begun = Promise.withResolvers<void>();
  const writable = Promise.withResolvers<void>();
  const session = await rig.start(
    {
      model: (call) => (call < 6 ? calls({ tool: 't', call_id: `call${call}` }) : { text: 'done' }),
      archive: async () => {
        begun.resolve();
        await writable.promise;
        return undefined;
      },
    },
    { history_events: 50 },
  );
  await begun.promise;
  const text = 'x'.repeat(MESSAGE_MAX_BYTES);
  for (let index = 0; index < MESSAGES; index += 1) await session.send(text, { message_id: `m${index}` });
  writable.resolve();
  const facts = await session.until(
    ({ run_count, run_state }) => run_count > MESSAGES && run_state === 'idle',
  );
  expect(facts.run_count).toBe(MESSAGES + 1);
  const segments = session.archived();
  for (const [index, { from_seq, through_seq }] of segments.entries()) {
    const before = segments[index - 1];
    if (before !== undefined) expect([before.from_seq, before.through_seq + 1]).toContain(from_seq);
    expect(through_seq).toBeGreaterThanOrEqual(from_seq);
  }
});

test('the next Temporal run begins with the time that the archive gave the last event, whatever a replay gives it', async () => {
  const times: string[] = [];
  const session = await rig.start(
    {
      model: () => ({ text: 'done' }),
      archive: async ({ segment }) => {
        const updated_at = `2026-03-01T00:00:0${segment}.000Z`;
        times.push(updated_at);
        return { updated_at };
      },
    },
    { history_events: 10 },
  );
  await session.untilIdle();
  const handle = rig.client.workflow.getHandle(workflowId(session.session_id));
  const query: PageQuery = { after_seq: 0, max_bytes: 1_000 };
  let page: LogPage;
  do page = await handle.query<LogPage, [PageQuery]>(QUERIES.log, query);
  while (page.base === null);
  expect(page.archived_through_seq).toBe(session.archived().at(-1)?.through_seq);
  expect([page.archived_at, page.base.updated_at]).toEqual([times.at(-1), times.at(-1)]);
});
