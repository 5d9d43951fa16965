import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calls, sessionRig } from '../support/fakeActivities.ts';
import type { SessionRig } from '../support/fakeActivities.ts';
import { all } from '../support/world.ts';

let rig: SessionRig;
beforeAll(async () => {
  rig = await sessionRig();
});
afterAll(async () => rig[Symbol.asyncDispose]());

test('a call whose worker was lost is uncertain, is asked about, and is not run again', async () => {
  let ran = 0;
  const session = await rig.start({
    model: (call) => (call === 0 ? calls({ tool: 'w' }) : { text: 'done' }),
    tool: () => {
      ran += 1;
      throw lost();
    },
    reconcile: async () => ({ status: 'unknown', evidence: 'begun at noon' }),
  });
  const facts = await session.untilIdle();
  expect(ran).toBe(1);
  expect(facts.uncertain).toMatchObject([{ call_id: 'c0', status: 'unknown', evidence: 'begun at noon' }]);
  expect(all(await session.events(), 'tool_recovery').map((event) => event.status)).toEqual([
    'uncertain',
    'unknown',
  ]);
  expect(all(await session.events(), 'tool_result')).toEqual([]);
});

test('a call that was completed brings its real result; one that still runs is waited for; one not run is run', async () => {
  const attempts: string[] = [];
  const session = await rig.start({
    model: (call) => (call === 0 ? calls({ tool: 'a' }, { tool: 'b' }, { tool: 'c' }) : { text: 'done' }),
    tool: ({ call_id, attempt }) => {
      attempts.push(`${call_id}.${attempt}`);
      if (attempt === 1) throw lost();
      return { status: 'success', output: 'second attempt' };
    },
    reconcile: async ({ call_id }) => {
      if (call_id === 'c0') {
        return { status: 'completed', evidence: 'receipt', outcome: { status: 'success', output: 'real' } };
      }
      return { status: call_id === 'c1' ? 'running' : 'not_run', evidence: 'looked' };
    },
  });
  const facts = await session.untilIdle();
  expect(facts.uncertain).toEqual([]);
  expect(attempts).toEqual(['c0.1', 'c1.1', 'c2.1', 'c2.2']);
  expect(all(await session.events(), 'tool_result')).toMatchObject([
    { call_id: 'c0', output: 'real', recovered: true },
    { call_id: 'c1', output: 'attached', recovered: true },
    { call_id: 'c2', output: 'second attempt' },
  ]);
});

test('a model call whose worker is lost in each attempt ends the run as a crash loop, not as a fault of the model', async () => {
  const session = await rig.start({
    model: () => {
      throw ApplicationFailure.create({ type: 'worker.lost', message: 'lost', nextRetryDelay: 1 });
    },
  });
  const { runs } = await session.untilIdle();
  expect(runs).toMatchObject([{ status: 'failed', error: { code: 'crash_loop' } }]);
});

test('a run that was interrupted ends so, also when the worker of its model call is lost before it has stopped', async () => {
  const asked = Promise.withResolvers<void>();
  const interrupted = Promise.withResolvers<void>();
  const session = await rig.start({
    model: async () => {
      asked.resolve();
      await interrupted.promise;
      throw lost();
    },
  });
  await asked.promise;
  await session.signal('interrupt', { by: 'ada' });
  await session.until(({ last_seq }) => last_seq >= 6);
  expect((await session.events()).at(-1)?.type).toBe('interrupt_requested');
  interrupted.resolve();
  const { runs } = await session.untilIdle();
  expect(runs).toMatchObject([{ status: 'interrupted', error: null }]);
});

test('a call that takes the worker down each time ends the run as a crash loop', async () => {
  const session = await rig.start({
    model: () => calls({ tool: 'w' }),
    tool: () => {
      throw lost();
    },
    reconcile: async () => ({ status: 'not_run', evidence: 'looked' }),
  });
  expect((await session.untilIdle()).runs).toMatchObject([
    { status: 'failed', error: { code: 'crash_loop' } },
  ]);
});

test('parallel calls that one crash took are one recovery, not a crash loop', async () => {
  const session = await rig.start({
    model: (call) =>
      call === 0
        ? calls(...Array.from({ length: 8 }, (_, index) => ({ tool: `w${index}`, effect: 'read' as const })))
        : { text: 'done' },
    tool: ({ attempt }) => {
      if (attempt === 1) throw lost();
      return { status: 'success', output: 'second attempt' };
    },
    reconcile: async () => ({ status: 'not_run', evidence: 'it only reads' }),
  });
  expect((await session.untilIdle()).runs).toMatchObject([{ status: 'success' }]);
});

test('with `wait`, a lost call interrupts the run, and what became of it is found out when the user speaks', async () => {
  const asked: string[] = [];
  const session = await rig.start(
    {
      model: (call) => (call === 0 ? calls({ tool: 'w1' }, { tool: 'w2' }) : { text: 'done' }),
      tool: () => {
        throw lost();
      },
      reconcile: async ({ call_id }) => {
        asked.push(call_id);
        return { status: 'completed', evidence: 'receipt', outcome: { status: 'success', output: 'real' } };
      },
    },
    { settings: { on_interrupt: 'wait' } },
  );
  const facts = await session.untilIdle();
  expect(facts).toMatchObject({
    run_state: 'interrupted',
    uncertain: [{ call_id: 'c0', status: 'uncertain' }],
  });
  expect(asked).toEqual([]);
  await session.send('and now?');
  const after = await session.until((now) => now.run_count === 2 && now.run_state === 'idle');
  expect(after).toMatchObject({ uncertain: [] });
  expect(asked).toEqual(['c0']);
  expect(all(await session.events(), 'tool_result')).toMatchObject([
    { call_id: 'c0', output: 'real', recovered: true },
  ]);
});

test('a person settles what stayed unknown, and the next model call is told so', async () => {
  const session = await rig.start({
    model: (call) => (call === 0 ? calls({ tool: 'w' }) : { text: 'done' }),
    tool: () => {
      throw lost();
    },
    reconcile: async () => ({ status: 'unknown', evidence: 'begun at noon' }),
  });
  expect((await session.untilIdle()).uncertain).toHaveLength(1);
  await session.signal('resolve', { call_id: 'c0', as: 'done', note: 'I looked: it is there.' });
  await session.signal('resolve', { call_id: 'c0', as: 'not-done', note: 'too late' });
  expect((await session.until((facts) => facts.uncertain.length === 0)).uncertain).toEqual([]);
  const recoveries = all(await session.events(), 'tool_recovery');
  expect(recoveries.at(-1)).toMatchObject({
    status: 'completed',
    by: 'user',
    evidence: 'I looked: it is there.',
  });
});

test('what a person has said of a call stands when the wait for it fails afterwards', async () => {
  const attached = Promise.withResolvers<void>();
  const failing = Promise.withResolvers<never>();
  const session = await rig.start({
    model: (call) => (call === 0 ? calls({ tool: 'w' }) : { text: 'done' }),
    tool: () => {
      throw lost();
    },
    reconcile: async () => ({ status: 'running', evidence: 'it runs' }),
    attach: async () => {
      attached.resolve();
      return failing.promise;
    },
  });
  await attached.promise;
  await session.signal('resolve', { call_id: 'c0', as: 'done', note: 'seen' });
  await session.until((facts) => facts.uncertain.length === 0);
  failing.reject(ApplicationFailure.create({ type: 'operation.lost', message: 'gone', nonRetryable: true }));
  expect((await session.untilIdle()).uncertain).toEqual([]);
  expect(all(await session.events(), 'tool_recovery').at(-1)).toMatchObject({
    status: 'completed',
    by: 'user',
  });
});

test('a host that does not answer is told as unreachable, and a rebind to another one lets the run go on', async () => {
  const session = await rig.start(
    { model: () => ({ text: 'hello' }) },
    { host: 'nobody', host_patience_ms: 100 },
  );
  expect(await session.until((facts) => facts.run_state === 'host_unreachable')).toMatchObject({
    run_count: 1,
  });
  await session.signal('rebind', { workspace: { host: 'test-host', path: '/w' }, by: 'u' });
  expect((await session.untilIdle()).runs).toMatchObject([{ status: 'success' }]);
  const events = await session.events();
  expect(all(events, 'host_unreachable')).toMatchObject([{ host: 'nobody' }]);
});

test('a run that waits for its host can be interrupted', async () => {
  const session = await rig.start(
    { model: () => ({ text: 'hello' }) },
    { host: 'nobody', host_patience_ms: 100 },
  );
  await session.until((facts) => facts.run_state === 'host_unreachable');
  await session.signal('interrupt', { by: 'u' });
  expect((await session.untilIdle()).runs).toMatchObject([{ status: 'interrupted' }]);
});

function lost(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'worker.lost',
    message: 'The worker was lost.',
    nonRetryable: true,
  });
}
