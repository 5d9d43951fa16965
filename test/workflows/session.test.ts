import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { calls, sessionRig, untilCancelled } from '../support/fakeActivities.ts';
import type { SessionRig } from '../support/fakeActivities.ts';
import { all } from '../support/world.ts';

let rig: SessionRig;
beforeAll(async () => {
  rig = await sessionRig();
});
afterAll(async () => rig[Symbol.asyncDispose]());

test('a message starts a run that ends with the answer, and every event is numbered without gaps', async () => {
  const session = await rig.start({ model: () => ({ text: 'hello' }) });
  const facts = await session.untilIdle();
  expect(facts.runs).toMatchObject([{ status: 'success', usage: { input_tokens: 10 } }]);
  const events = await session.events();
  expect(events.map((event) => event.type)).toEqual([
    'session_created',
    'user_message',
    'run_started',
    'project_loaded',
    'model_called',
    'assistant_message',
    'run_finished',
  ]);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
});

test('operation ids are derived from session, run, step and index', async () => {
  const session = await rig.start({
    model: (call) => (call === 0 ? calls({ tool: 'a' }, { tool: 'b' }) : { text: 'done' }),
  });
  await session.untilIdle();
  const events = await session.events();
  const run = `${session.session_id}.r1`;
  expect(all(events, 'model_called').map((event) => event.operation_id)).toEqual([
    `${run}.s1.0`,
    `${run}.s2.0`,
  ]);
  expect(all(events, 'tool_call').map((event) => event.operation_id)).toEqual([`${run}.s1.1`, `${run}.s1.2`]);
});

test('the same message id twice is one message', async () => {
  const session = await rig.start({ model: () => ({ text: 'hello' }) });
  await session.send('again');
  await session.send('again');
  await session.untilIdle();
  expect(all(await session.events(), 'user_message').map((event) => event.message_id)).toEqual([
    'first',
    'again',
  ]);
});

test('three queued messages run one after the other, in order', async () => {
  const gate = Promise.withResolvers<void>();
  const session = await rig.start({
    model: async (call) => {
      if (call === 0) await gate.promise;
      return { text: `answer ${call}` };
    },
  });
  for (const text of ['one', 'two', 'three']) await session.send(text);
  await session.until((facts) => facts.queued === 3);
  gate.resolve();
  const facts = await session.untilIdle();
  expect(facts.runs.map((run) => run.status)).toEqual(['success', 'success', 'success', 'success']);
  expect(all(await session.events(), 'run_started').map((event) => event.message_ids)).toEqual([
    ['first'],
    ['one'],
    ['two'],
    ['three'],
  ]);
});

test('a steering message enters before the next model call of the same run', async () => {
  const gate = Promise.withResolvers<void>();
  const session = await rig.start({
    model: (call) => (call === 0 ? calls({ tool: 'slow' }) : { text: 'done' }),
    tool: async () => {
      await gate.promise;
      return { status: 'success', output: 'ok' };
    },
  });
  await session.until((facts) => facts.current_calls.length === 1);
  await session.send('steer', { delivery: 'steer' });
  await session.until((facts) => facts.queued === 1);
  gate.resolve();
  const facts = await session.untilIdle();
  expect(facts.run_count).toBe(1);
  const events = await session.events();
  const steer = all(events, 'user_message').at(-1)?.seq ?? 0;
  expect(all(events, 'model_called').at(-1)?.through_seq).toBeGreaterThan(steer);
});

test('a steering message that comes during the last model call is answered in the same run', async () => {
  const gate = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  const session = await rig.start({
    model: async (call) => {
      called.resolve();
      if (call === 0) await gate.promise;
      return { text: `answer ${call}` };
    },
  });
  await called.promise;
  await session.send('steer', { delivery: 'steer' });
  await session.until((facts) => facts.queued === 1);
  gate.resolve();
  expect((await session.untilIdle()).run_count).toBe(1);
  expect(all(await session.events(), 'assistant_message').map((event) => event.text)).toEqual([
    'answer 0',
    'answer 1',
  ]);
});

test('read-only calls run side by side, others one after the other, each result when it ends', async () => {
  let now = 0;
  let most = 0;
  const order: string[] = [];
  const session = await rig.start({
    model: (call) =>
      call === 0
        ? calls(
            { tool: 'r1', effect: 'read' },
            { tool: 'r2', effect: 'read' },
            { tool: 'w1' },
            { tool: 'w2' },
          )
        : { text: 'done' },
    tool: async ({ call_id }) => {
      now += 1;
      most = Math.max(most, now);
      order.push(call_id);
      if (now < 2 && (call_id === 'c0' || call_id === 'c1')) await until(() => most === 2);
      now -= 1;
      return { status: 'success', output: call_id };
    },
  });
  await session.untilIdle();
  expect(most).toBe(2);
  expect(order.slice(2)).toEqual(['c2', 'c3']);
});

test('a call id that was used before, or is missing, gets one of ours', async () => {
  const session = await rig.start({
    model: (call) => (call < 2 ? calls({ tool: 'a' }, { tool: 'b', call_id: '' }) : { text: 'done' }),
  });
  await session.untilIdle();
  const ids = all(await session.events(), 'tool_call').map((event) => event.call_id);
  expect(new Set(ids).size).toBe(4);
  expect(ids[0]).toBe('c0');
});

test('a call with a problem is answered by it and never run', async () => {
  let ran = 0;
  const session = await rig.start({
    model: (call) => (call === 0 ? calls({ tool: 'nope', problem: 'no such tool' }) : { text: 'done' }),
    tool: () => {
      ran += 1;
      return { status: 'success', output: '' };
    },
  });
  await session.untilIdle();
  expect(all(await session.events(), 'tool_result')).toMatchObject([
    { status: 'failed', output: 'no such tool' },
  ]);
  expect(ran).toBe(0);
});

test('with the policy `ask` a side effect waits for approval, and runs once when it is approved', async () => {
  let ran = 0;
  const session = await rig.start(
    {
      model: (call) => (call === 0 ? calls({ tool: 'r', effect: 'read' }, { tool: 'w' }) : { text: 'done' }),
      tool: ({ call_id }) => {
        if (call_id === 'c1') ran += 1;
        return { status: 'success', output: 'ok' };
      },
    },
    { settings: { approval: 'ask' } },
  );
  const waiting = await session.until((facts) => facts.pending_approvals.length === 1);
  expect(waiting).toMatchObject({ run_state: 'waiting_approval', pending_approvals: [{ call_id: 'c1' }] });
  expect(ran).toBe(0);
  await session.signal('decide', { call_id: 'c1', decision: 'approve', by: 'u', reason: '' });
  await session.signal('decide', { call_id: 'c1', decision: 'approve', by: 'u', reason: '' });
  await session.untilIdle();
  expect(ran).toBe(1);
});

test('a denied call is answered with the reason and the run goes on', async () => {
  const session = await rig.start(
    { model: (call) => (call === 0 ? calls({ tool: 'w' }) : { text: 'done' }) },
    { settings: { approval: 'ask' } },
  );
  await session.until((facts) => facts.pending_approvals.length === 1);
  await session.signal('decide', { call_id: null, decision: 'deny', by: 'u', reason: 'not today' });
  expect((await session.untilIdle()).runs).toMatchObject([{ status: 'success' }]);
  expect(all(await session.events(), 'tool_result')).toMatchObject([
    { status: 'denied', output: 'Not run: the user denied this call. Reason: not today' },
  ]);
});

test('with the policy `read-only` a side effect is denied and told why', async () => {
  const session = await rig.start(
    { model: (call) => (call === 0 ? calls({ tool: 'w' }) : { text: 'done' }) },
    { settings: { approval: 'read-only' } },
  );
  await session.untilIdle();
  expect(all(await session.events(), 'tool_result')).toMatchObject([{ status: 'denied' }]);
});

test('an interrupt stops the running call, settles the others, and ends the run as interrupted', async () => {
  const session = await rig.start({
    model: () => calls({ tool: 'w1' }, { tool: 'w2' }),
    tool: async () =>
      untilCancelled().catch(() => ({ status: 'cancelled' as const, output: 'stopped after half' })),
  });
  await session.until((facts) => facts.current_calls.length === 2);
  await session.signal('interrupt', { by: 'u' });
  expect((await session.untilIdle()).runs).toMatchObject([{ status: 'interrupted' }]);
  const results = all(await session.events(), 'tool_result');
  expect(results.map((event) => event.output)).toEqual([
    'stopped after half',
    'Not run: the user interrupted the run before this call began.',
  ]);
});

test('an interrupt during a model call ends the run, and a later message starts the next one', async () => {
  const called = Promise.withResolvers<void>();
  const session = await rig.start({
    model: async (call) => {
      called.resolve();
      return call === 0 ? untilCancelled() : { text: 'hello' };
    },
  });
  await called.promise;
  await session.signal('interrupt', { by: 'u' });
  expect((await session.untilIdle()).runs).toMatchObject([{ status: 'interrupted' }]);
  await session.send('again');
  const facts = await session.until((now) => now.run_count === 2 && now.run_state === 'idle');
  expect(facts.runs).toMatchObject([{ status: 'interrupted' }, { status: 'success' }]);
});

test('a model failure ends the run with its remedy, and the session stays usable', async () => {
  const session = await rig.start({
    model: (call) => {
      if (call > 0) return { text: 'hello' };
      throw ApplicationFailure.create({
        type: 'model.auth',
        message: 'key refused',
        nonRetryable: true,
        details: [{ remedy: 'set the key' }],
      });
    },
  });
  expect((await session.untilIdle()).runs).toMatchObject([
    { status: 'failed', error: { code: 'model.auth', message: 'key refused', remedy: 'set the key' } },
  ]);
  await session.send('again');
  await session.until((facts) => facts.run_count === 2 && facts.run_state === 'idle');
});

test('a workspace that is gone fails the run, and after a rebind the next one works', async () => {
  const found = new Set(['/there']);
  const session = await rig.start({
    model: () => ({ text: 'hello' }),
    loadProject: async ({ workspace }) => {
      if (found.has(workspace.path)) return { digest: 'd', instructions: [], date: '', platform: '' };
      throw ApplicationFailure.create({ type: 'workspace.not_found', message: 'gone', nonRetryable: true });
    },
  });
  expect((await session.untilIdle()).runs).toMatchObject([
    { status: 'failed', error: { code: 'workspace.not_found' } },
  ]);
  found.add('/w');
  await session.signal('rebind', { workspace: { host: 'test-host', path: '/there' }, by: 'u' });
  await session.send('again');
  const facts = await session.until((now) => now.run_count === 2 && now.run_state === 'idle');
  expect(facts.workspace.path).toBe('/there');
});

test('a session continues as new in mid-run and keeps everything', async () => {
  const session = await rig.start(
    {
      model: (call) => (call < 30 ? calls({ tool: 'w', call_id: `call${call}` }) : { text: 'done' }),
      tool: ({ call_id }) => ({
        status: 'success',
        output: call_id,
        versions: [{ path: call_id, version: 'v' }],
      }),
    },
    { history_events: 60 },
  );
  await session.send('second');
  const facts = await session.untilIdle();
  expect(facts.runs.map((run) => run.status)).toEqual(['success', 'success']);
  expect(facts.runs[0]?.usage.input_tokens).toBe(310);
  const segments = session.archived();
  expect(segments.length).toBeGreaterThan(2);
  expect(segments.map((segment) => segment.segment)).toEqual(segments.map((_, index) => index + 1));
  for (const [index, segment] of segments.entries()) {
    expect(segment.from_seq).toBe((segments[index - 1]?.through_seq ?? 0) + 1);
  }
  await session.send('second');
  await session.send('third');
  await session.until((now) => now.run_count === 3 && now.run_state === 'idle');
});

test('an archived session closes, and its workflow says how far it came', async () => {
  const session = await rig.start({ model: () => ({ text: 'hello' }) });
  await session.untilIdle();
  await session.signal('archive');
  const end = await rig.client.workflow.getHandle(`holdfast/${session.session_id}`).result();
  expect(end).toEqual({ session_id: session.session_id, through_seq: 8 });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
