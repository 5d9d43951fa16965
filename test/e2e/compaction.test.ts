import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { textTokens } from '../../src/activities/model/tokenizer.ts';
import type { SeenRequest } from '../../src/demo/scriptedRequest.ts';
import { scriptByText } from '../../src/demo/scriptedSteps.ts';
import { callTool, callTools, say } from '../../src/demo/scriptedTurns.ts';
import { NO_USAGE } from '../../src/domain/model.ts';
import { sharedWorlds } from '../support/sharedWorlds.ts';
import { all, checkLog, until, World } from '../support/world.ts';
import { plant, runnerOf } from './support/planted.ts';
import { asksForSummary, problemsOf, sizeOf, smallModel } from '../../src/demo/smallModel.ts';

const createWorld = sharedWorlds();

/** Many steps, and some of them after a kill. */
vi.setConfig({ testTimeout: 120_000 });

const WINDOW = 30_000;

/** Calls one tool after the other until there were `count` results since the beginning, then says so. */
function worker(count: number): (request: SeenRequest) => ReturnType<typeof callTool> {
  let calls = 0;
  return () => {
    calls += 1;
    return calls > count
      ? say(`did ${count}`)
      : callTool('bash', { command: `echo ${calls} >> log; head -c 6000 /dev/zero | tr '\\0' 'x'` });
  };
}

function requestsOf(world: World, kind: 'summary' | 'step'): SeenRequest[] {
  return world.model.requests.filter((request) => asksForSummary(request) === (kind === 'summary'));
}

test('a run that outgrows the window goes on behind summaries: no step is repeated, nothing that was said is lost', async () => {
  const work = worker(14);
  const began = Promise.withResolvers<void>();
  await using world = await createWorld(
    smallModel(WINDOW, (request) => {
      began.resolve();
      return request.lastUserText === 'a very old message' ? say('read it') : work(request);
    }),
  );
  const id = await world.start('count to fourteen');
  await began.promise;
  // It waits for the run's end, and with it through all summaries.
  await world.cli(['send', id, 'a very old message']);
  expect((await world.wait(id)).code).toBe(0);
  const events = await world.events(id);
  checkLog(events);
  expect((await readFile(join(world.workspace, 'log'), 'utf8')).trim().split('\n')).toHaveLength(14);
  expect(all(events, 'tool_result')).toHaveLength(14);
  expect(all(events, 'summary_created').length).toBeGreaterThan(2);
  expect(all(events, 'run_finished')).toMatchObject([{ status: 'success' }, { status: 'success' }]);
  for (const request of world.model.requests) expect(problemsOf(request)).toEqual([]);
  const last = requestsOf(world, 'step').at(-1);
  expect(last?.messages[1]?.text).toContain('SUMMARY of it');
  expect(last?.messages[1]?.text).toContain('<message>count to fourteen</message>');
  expect(all(events, 'assistant_message').at(-1)?.text).toBe('read it');
  const { context } = await world.facts(id);
  expect(context).toMatchObject({ compacting: false, summary_through_seq: expect.any(Number) as number });
});

test.for([true, false])(
  'at four fifths of the window a summary is made before the call (the provider counts tokens: %s)',
  async (counts) => {
    const window = 20_000;
    await using world = await createWorld(async (request, index) => {
      const input_tokens = await tokensOf(request);
      const usage = counts ? { ...NO_USAGE, input_tokens, output_tokens: 20 } : null;
      if (asksForSummary(request)) return say('SUMMARY', { usage });
      return index < 7 ? callTool('bash', { command: 'seq 1 2500' }, { usage }) : say('done', { usage });
    });
    const id = await world.start('go', '--context-window', String(window));
    expect((await world.wait(id)).code).toBe(0);
    const events = await world.events(id);
    checkLog(events);
    expect(all(events, 'summary_created').length).toBeGreaterThan(0);
    expect(new Set(all(events, 'context_full').map(({ by }) => by))).toEqual(new Set(['count']));
    for (const request of requestsOf(world, 'step'))
      expect(await tokensOf(request)).toBeLessThanOrEqual(window * 0.85);
    for (const { tokens_before, tokens_after } of all(events, 'summary_created')) {
      expect(tokens_before).toBeGreaterThan(window * 0.75);
      expect(tokens_after).toBeLessThan(window * 0.6);
    }
    const { context, usage } = await world.facts(id);
    expect(context.window).toBe(window);
    expect(context.tokens).toBeGreaterThan(window * 0.2);
    expect(usage.input_tokens > 0).toBe(counts);
  },
);

/** Of the conversation as it was sent, by the tokenizer. */
async function tokensOf({ body }: SeenRequest): Promise<number> {
  return textTokens(JSON.stringify([body['messages'], body['tools']]));
}

test.for(['before', 'after'] as const)(
  'a worker killed %s the summary’s receipt is written: it is paid once more at most, or not at all, and the run goes on',
  async (moment) => {
    const begun = Promise.withResolvers<void>();
    let struck = false;
    await using world = await World.create(
      smallModel(WINDOW, worker(6), async () => {
        if (moment === 'before' && !struck) {
          struck = true;
          begun.resolve();
          return say('SUMMARY', { first_byte_ms: 60_000 });
        }
        if (moment === 'after' && !struck) {
          struck = true;
          await plant(world, 'after_receipt');
        }
        return say('SUMMARY');
      }),
    );
    world.env['HOLDFAST_FAULTS'] = world.beside('faults');
    const id = await world.start('go');
    if (moment === 'before') {
      await begun.promise;
      await world.kill('worker');
    }
    expect((await world.wait(id)).code).toBe(0);
    const events = await world.events(id);
    checkLog(events);
    const summaries = all(events, 'summary_created');
    const asked = requestsOf(world, 'summary').filter(
      ({ idempotencyKey }) => idempotencyKey === summaries[0]?.operation_id,
    );
    expect(asked).toHaveLength(moment === 'before' ? 2 : 1);
    expect((await readFile(join(world.workspace, 'log'), 'utf8')).trim().split('\n')).toHaveLength(6);
  },
);

test('`compact` twice in a row: the second finds little or nothing to do, and the session goes on as before', async () => {
  await using world = await createWorld(
    smallModel(
      WINDOW,
      scriptByText([
        {
          when: 'first',
          steps: [
            callTools([
              { tool: 'bash', args: { command: 'echo a' } },
              { tool: 'bash', args: { command: 'echo b' } },
            ]),
            say('done'),
          ],
        },
        { when: 'second', steps: [callTool('bash', { command: 'echo c' }), say('done again')] },
      ]),
    ),
  );
  const id = await world.start('first');
  await world.wait(id);
  const made = await world.cli(['compact', id]);
  expect(made.code).toBe(0);
  expect(made.stderr).toMatch(/events up to \d+ are summarised, [\d,.k]+ -> [\d,.k]+ tokens/);
  const again = await world.cli(['compact', id, '--json']);
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ session_id: id });
  await world.cli(['send', id, 'second']);
  expect((await world.wait(id)).code).toBe(0);
  for (const request of world.model.requests) expect(problemsOf(request)).toEqual([]);
  expect(all(await world.events(id), 'assistant_message').at(-1)?.text).toBe('done again');
});

test('a summary is made while the last item is a call without a result: the call is carried and settled later', async () => {
  await using world = await createWorld(
    smallModel(
      WINDOW,
      scriptByText([
        { when: 'before', steps: [say('hello')] },
        { when: 'go', steps: [callTool('bash', { command: 'echo start >> log; sleep 600' }), say('never')] },
        { when: 'and now', steps: [say('I looked')] },
      ]),
    ),
  );
  const id = await world.start('before', '--on-interrupt', 'wait');
  await world.wait(id);
  await world.cli(['send', id, 'go']);
  await until(async () => readFile(join(world.workspace, 'log'), 'utf8').catch(() => undefined));
  const runner = await runnerOf(world, id, 2);
  process.kill(-runner, 'SIGKILL');
  await world.kill('worker');
  await until(async () => (await world.facts(id)).run_state === 'interrupted');
  expect((await world.facts(id)).uncertain).toMatchObject([{ status: 'uncertain' }]);
  expect((await world.cli(['compact', id])).code).toBe(0);
  await world.cli(['send', id, 'and now?']);
  expect((await world.wait(id)).code).toBe(0);
  const events = await world.events(id);
  expect(all(events, 'summary_created')).toHaveLength(1);
  expect(all(events, 'tool_recovery').map(({ status }) => status)).toEqual(['uncertain', 'unknown']);
  const last = requestsOf(world, 'step').at(-1);
  expect(problemsOf(last as SeenRequest)).toEqual([]);
  expect(last?.messages.find(({ role }) => role === 'tool')?.text).toContain('UNKNOWN');
});

test('a history larger than the window of the model just chosen is summarised in parts, and the session goes on', async () => {
  const work = worker(18);
  await using world = await createWorld(
    smallModel(
      ({ model }) => (model === 'small' ? WINDOW : 10 * WINDOW),
      (request) => (request.model === 'small' ? say(`small: ${request.lastUserText}`) : work(request)),
      (_, index) => say(`SUMMARY ${index}`),
    ),
  );
  const id = await world.start('go', '--model', 'big');
  await world.wait(id);
  expect(all(await world.events(id), 'summary_created')).toEqual([]);
  const { code, stdout } = await world.cli(['resume', id, '--prompt', 'what now?', '--model', 'small']);
  expect([code, stdout.trim()]).toEqual([0, 'small: what now?']);
  const summaries = all(await world.events(id), 'summary_created');
  expect(summaries.length).toBeGreaterThan(3);
  const covered = summaries.map(({ through_seq }) => through_seq);
  expect(covered).toEqual([...new Set(covered)].toSorted((a, b) => a - b));
  for (const request of requestsOf(world, 'summary').slice(0, -1)) expect(problemsOf(request)).toEqual([]);
});

test('a single step that is larger than the window is summarised with its texts cut', async () => {
  const big = Array.from({ length: 8 }, () => ({
    tool: 'bash',
    args: { command: "head -c 7000 /dev/zero | tr '\\0' 'y'" },
  }));
  await using world = await createWorld(
    smallModel(WINDOW, scriptByText([{ when: 'go', steps: [callTools(big), say('done')] }], [say('done')])),
  );
  const id = await world.start('go');
  expect((await world.wait(id)).code).toBe(0);
  const [summary] = all(await world.events(id), 'summary_created');
  expect(summary?.notes?.[0]).toContain('were cut for the summary');
  expect(Math.max(...requestsOf(world, 'step').slice(-1).map(sizeOf))).toBeLessThan(WINDOW);
});
