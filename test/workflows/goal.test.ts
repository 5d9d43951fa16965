import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallModelResult } from '../../src/activities/contract.ts';
import type { GoalAction } from '../../src/domain/goalActions.ts';
import { NO_USAGE } from '../../src/domain/model.ts';
import { calls, sessionRig } from '../support/fakeActivities.ts';
import type { SessionHandle, SessionRig } from '../support/fakeActivities.ts';
import { all } from '../support/world.ts';

let rig: SessionRig;
beforeAll(async () => {
  rig = await sessionRig();
});
afterAll(async () => rig[Symbol.asyncDispose]());

const goal = { objective: 'make it work', budget: null };

const goalIs = (status: string, note: string, wait_seconds?: number): Partial<CallModelResult> =>
  kept('update_goal', { status, note, wait_seconds });

/** A call as the activity accepts it. */
function kept(tool: string, args: object): Partial<CallModelResult> {
  return calls({ tool, arguments: JSON.stringify(args), effect: 'read', call_id: '' });
}

const failing = (type: string) => (): never => {
  throw ApplicationFailure.create({ type, message: 'refused', nonRetryable: true });
};

const act = async (session: SessionHandle, action: GoalAction): Promise<void> =>
  session.signal('goal', { by: 'u', action });

const untilGoal = async (session: SessionHandle, status: string) =>
  session.until((facts) => facts.goal?.status === status && facts.run_state !== 'running');

test('a goal goes on by itself, run after run, until its model says that it is complete', async () => {
  let ran = 0;
  const session = await rig.start(
    {
      model: (call) => {
        if (call === 4) return goalIs('complete', 'all tests pass');
        return call % 2 === 0 ? calls({ tool: 'write_file', call_id: '' }) : { text: `did ${call}` };
      },
      tool: () => {
        ran += 1;
        return { status: 'success', output: 'ok', versions: [{ path: 'a', version: `v${ran}` }] };
      },
    },
    { goal },
  );
  const facts = await untilGoal(session, 'complete');
  expect(facts.runs.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
  expect(facts.goal).toMatchObject({ note: 'all tests pass', tokens_used: 55, next_run_at: null });
  const events = await session.events();
  expect(all(events, 'run_started').map(({ trigger }) => trigger)).toEqual(['goal', 'goal', 'goal']);
  // update_goal is settled by the workflow itself, and nothing is asked after it.
  expect(ran).toBe(2);
  expect(events.slice(-4).map(({ type }) => type)).toEqual([
    'tool_call',
    'goal_changed',
    'tool_result',
    'run_finished',
  ]);
});

test('a plan is kept by the workflow, word for word, without any activity', async () => {
  const steps = [
    { step: 'read “it”,\n all', status: 'completed' },
    { step: 'mend it', status: 'in_progress' },
  ];
  const session = await rig.start({
    model: (call) => (call === 0 ? kept('update_plan', { steps }) : { text: 'done' }),
    tool: () => {
      throw new Error('Expected no activity for update_plan.');
    },
  });
  expect((await session.untilIdle()).plan).toEqual(steps);
});

test('a goal that waits makes at most 10 model calls in an hour, whose second lasts 3 ms here', async () => {
  const second_ms = 3;
  const called: number[] = [];
  const session = await rig.start(
    {
      model: (call) => {
        called.push(Date.now());
        return goalIs('active', `looked ${call} times`, 60);
      },
    },
    { goal, goal_second_ms: second_ms },
  );
  await session.until(() => called.length > 0);
  await delay(3_600 * second_ms);
  const inHour = called.filter((at) => at - (called[0] ?? 0) < 3_600 * second_ms).length;
  expect(inHour).toBeGreaterThan(1);
  expect(inHour).toBeLessThanOrEqual(10);
  await act(session, { do: 'clear' });
});

test('at the budget it stops, one call over it at most; a raised budget lets it go on', async () => {
  let version = 0;
  const session = await rig.start(
    {
      model: () => ({
        ...calls({ tool: 'write_file', call_id: '' }),
        usage: { ...NO_USAGE, input_tokens: 300 },
      }),
      tool: () => ({
        status: 'success',
        output: 'ok',
        versions: [{ path: 'a', version: `${(version += 1)}` }],
      }),
    },
    { goal: { ...goal, budget: 1_000 } },
  );
  const stopped = await untilGoal(session, 'budget_limited');
  expect(stopped.goal).toMatchObject({ tokens_used: 1_200, budget: 1_000 });
  expect(stopped.runs).toMatchObject([{ status: 'failed', error: { code: 'goal.budget_limited' } }]);
  // Too small, and so dropped.
  await act(session, { do: 'budget', budget: 1_100 });
  await act(session, { do: 'resume' });
  expect((await session.facts()).goal).toMatchObject({ status: 'budget_limited', budget: 1_000 });
  await act(session, { do: 'budget', budget: 2_000 });
  const again = await session.until(({ goal }) => goal?.status === 'budget_limited' && goal.budget === 2_000);
  expect(again.goal?.tokens_used).toBe(2_100);
});

test('three runs that change nothing block it, and the note says so', async () => {
  const session = await rig.start({ model: () => ({ text: 'Hm.' }) }, { goal, goal_second_ms: 1 });
  const facts = await untilGoal(session, 'blocked');
  expect(facts.run_count).toBe(3);
  expect(facts.goal?.note).toMatch(/^3 runs in a row/);
});

test('a message is answered while the goal rests, and the goal goes on after it', async () => {
  const session = await rig.start(
    {
      model: (call) => {
        if (call === 0) return goalIs('active', 'waiting', 900);
        return call === 1 ? { text: 'an answer' } : goalIs('complete', 'done');
      },
    },
    { goal },
  );
  await session.until((facts) => facts.goal?.next_run_at != null);
  await session.send('how is it?');
  await untilGoal(session, 'complete');
  expect(all(await session.events(), 'run_started').map(({ trigger }) => trigger)).toEqual([
    'goal',
    'message',
    'goal',
  ]);
});

test('an interrupt pauses it, and resumed it goes on', async () => {
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const session = await rig.start(
    {
      model: async (call) => {
        if (call > 0) return goalIs('complete', 'done');
        asked.resolve();
        await gate.promise;
        return { text: 'late' };
      },
    },
    { goal },
  );
  await asked.promise;
  await session.signal('interrupt', { by: 'ada' });
  gate.resolve();
  const paused = await untilGoal(session, 'paused');
  expect(paused.runs).toMatchObject([{ status: 'interrupted' }]);
  await act(session, { do: 'resume' });
  await untilGoal(session, 'complete');
});

test('an interrupt that comes between two runs pauses it, too', async () => {
  const session = await rig.start({ model: () => goalIs('active', 'waiting', 900) }, { goal });
  await session.until((facts) => facts.goal?.next_run_at != null);
  await session.signal('interrupt', { by: 'ada' });
  expect((await untilGoal(session, 'paused')).run_count).toBe(1);
  expect((await session.events()).at(-1)).toMatchObject({
    type: 'goal_changed',
    by: 'ada',
    status: 'paused',
  });
});

test('a quota that is used up limits the goal, a refused key blocks it', async () => {
  const limited = await rig.start({ model: failing('model.quota_exhausted') }, { goal });
  await untilGoal(limited, 'usage_limited');
  const blocked = await rig.start({ model: failing('model.auth') }, { goal });
  expect((await untilGoal(blocked, 'blocked')).goal?.note).toMatch(/^refused/);
});

test('workers that are gone while it rests neither lose nor double its next run', async () => {
  let version = 0;
  const session = await rig.start(
    {
      model: (call) =>
        call < 2 ? goalIs('active', `look ${(version += 1)}`, 60) : goalIs('complete', 'done'),
    },
    { goal, goal_second_ms: 10 },
  );
  const due = (await session.until((facts) => facts.goal?.next_run_at != null)).goal?.next_run_at ?? '';
  // The timer fires while nobody is there.
  await rig.replaceWorkers(async () => delay(3 * 60 * 10));
  await session.until((facts) => facts.run_count === 2 && facts.goal?.next_run_at != null);
  // And once more, with workers that are there in time.
  await rig.replaceWorkers(async () => {});
  const facts = await untilGoal(session, 'complete');
  expect(facts.run_count).toBe(3);
  const events = await session.events();
  const starts = all(events, 'run_started').map(({ at }) => at);
  expect(starts).toHaveLength(3);
  expect((starts[1] ?? '') >= due).toBe(true);
});

test('continue-as-new while it rests keeps the time of its next run', async () => {
  const session = await rig.start(
    { model: (call) => (call === 0 ? goalIs('active', 'waiting', 60) : goalIs('complete', 'done')) },
    { goal, goal_second_ms: 20, history_events: 30 },
  );
  const before = await session.until((facts) => facts.goal?.next_run_at != null);
  const due = before.goal?.next_run_at ?? '';
  for (let count = 0; session.archived().length === 0; count += 1) {
    await session.signal('rename', { title: `title ${count}` });
    await delay(20);
  }
  const after = await session.until((facts) => facts.last_seq > 0);
  expect(after.goal?.next_run_at).toBe(due);
  expect(new Date().toISOString() < due).toBe(true);
  await untilGoal(session, 'complete');
  const { runs, run_count } = await session.facts();
  expect((runs.at(-1)?.started_at ?? '') >= due).toBe(true);
  expect(run_count).toBe(2);
});
