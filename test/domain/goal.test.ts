import { describe, expect, test } from 'vitest';
import { buildContext } from '../../src/domain/context.ts';
import { describeSession } from '../../src/domain/facts.ts';
import type { EventBody, SessionEvent } from '../../src/domain/event.ts';
import { applyEvent } from '../../src/domain/fold.ts';
import type { PlanStep } from '../../src/domain/goal.ts';
import { GOAL_OBJECTIVE_MAX_CHARS } from '../../src/domain/limits.ts';
import { NO_USAGE } from '../../src/domain/model.ts';
import type { SessionState } from '../../src/domain/session.ts';
import { nextStep } from '../../src/domain/step.ts';
import { tellStory } from '../../src/domain/story.ts';
import { upgradeState } from '../../src/domain/upgrade.ts';
import { created, finished, loaded, log, message, started, stateOf } from './support/events.ts';
import { GoalSession, goalIs, writes, type Answer } from './support/goalSession.ts';

const text: Answer = { text: 'Done for now.' };
const bash: Answer = { calls: [{ tool: 'bash', args: { command: 'ls' } }] };

/** Answers in this order, then with text. */
const script =
  (...answers: Answer[]) =>
  (call: number) =>
    answers[call] ?? text;

const runs = ({ state }: GoalSession) => state.runs.map(({ status }) => status);

/** A session whose calls fail with this after so many that got on. */
const failing = (code: string, after = 0): GoalSession =>
  new GoalSession((call) =>
    call < after ? writes(`${call}`) : { error: { code, message: 'It broke.', remedy: 'Mend it.' } },
  );

const resultOf = (session: GoalSession) => session.events.findLast(({ type }) => type === 'tool_result');

const plan = (all: PlanStep[]): Answer => ({ calls: [{ tool: 'update_plan', args: { steps: all } }] });

const systemOf = (state: SessionState, events: SessionEvent[]): string =>
  buildContext(state, events)[0]?.text ?? '';

describe('a goal that is worked on', () => {
  test('starts run after run by itself until the model says that it is complete, with no call after that', () => {
    const session = new GoalSession(
      script(writes('1'), text, writes('2'), text, goalIs('complete', 'tests pass')),
    );
    session.play();
    expect(session.goal).toMatchObject({ status: 'complete', note: 'tests pass', next_run_at: null });
    expect(runs(session)).toEqual(['success', 'success', 'success']);
    expect(session.calls).toHaveLength(5);
  });

  test('is ended as blocked by its model in the same way', () => {
    const session = new GoalSession(script(goalIs('blocked', 'I need a key'))).play();
    expect(session.goal).toMatchObject({ status: 'blocked', note: 'I need a key' });
    expect(session.calls).toHaveLength(1);
  });

  test('lets messages go first, and after the answer goes on at once', () => {
    const session = new GoalSession(
      script(goalIs('active', 'waiting', 900), text, goalIs('complete', 'done')),
    );
    session.play(60);
    expect(session.goal).toMatchObject({ status: 'active', idle_runs: 1 });
    session.emit(message('m1'));
    session.play(120);
    expect(session.state.runs.map(({ run_id }) => run_id)).toHaveLength(3);
    expect(session.goal.status).toBe('complete');
    expect(session.events.filter(({ type }) => type === 'run_started')).toMatchObject([
      { trigger: 'goal' },
      { trigger: 'message', message_ids: ['m1'] },
      { trigger: 'goal' },
    ]);
  });

  test('is said to be complete in a run that answers the user, and the model goes on to answer', () => {
    const session = new GoalSession(script(goalIs('complete', 'done'), text));
    session.emit(message('m1'));
    session.play();
    expect(session.calls).toHaveLength(2);
    expect(session.goal.status).toBe('complete');
  });

  test('ends its run before the next model call when the user pauses, clears or replaces it', () => {
    for (const action of ['pause', 'clear', 'set'] as const) {
      const session: GoalSession = new GoalSession((call) => {
        if (call > 0) return goalIs('complete', 'done');
        session.act(action === 'set' ? { do: 'set', objective: 'another', budget: null } : { do: action });
        return bash;
      });
      session.play();
      expect(session.calls).toHaveLength(action === 'set' ? 2 : 1);
      expect(runs(session)[0]).toBe('success');
      if (action === 'set') expect(session.goal).toMatchObject({ objective: 'another', tokens_used: 100 });
    }
  });

  test('counts the seconds of its runs, not of its rests, and none for a clock that was set back', () => {
    const session = new GoalSession(script(goalIs('active', 'a', 900), goalIs('complete', 'b'))).play();
    expect(session.goal.seconds_used).toBeCloseTo(1.2, 5);
    expect(describeSession(session.state).goal?.seconds_used).toBe(1);
    session.act({ do: 'set', objective: 'another', budget: null });
    const at = (body: EventBody, time: string) =>
      (session.state = applyEvent(session.state, {
        seq: session.state.seq + 1,
        at: time,
        run_id: 'r',
        ...body,
      }));
    at({ type: 'run_started', trigger: 'goal', message_ids: [] }, '2026-03-01T12:00:00.000Z');
    at(finished(), '2026-03-01T11:00:00.000Z');
    expect(session.goal.seconds_used).toBe(0);
  });
});

describe('the budget', () => {
  test('stops the goal before the call that it does not cover, so that one call at most goes over it', () => {
    const session = new GoalSession(() => ({ ...bash, tokens: 300 }), 1_000);
    session.play();
    expect(session.goal).toMatchObject({ status: 'budget_limited', tokens_used: 1_200 });
    expect(session.calls).toHaveLength(4);
  });

  test('ends the run as failed, with what to do', () => {
    let file = 0;
    const session = new GoalSession(() => ({ ...writes(`${(file += 1)}`), tokens: 300 }), 1_000).play();
    expect(session.goal).toMatchObject({ status: 'budget_limited', tokens_used: 1_200 });
    expect(session.state.runs).toMatchObject([
      {
        status: 'failed',
        error: { code: 'goal.budget_limited', remedy: expect.stringContaining(`goal k3v9x2m7q4ta budget N`) },
      },
    ]);
  });

  test('raised above what was used, lets the goal go on by itself; below that it is refused', () => {
    let file = 0;
    const session = new GoalSession(() => ({ ...writes(`${(file += 1)}`), tokens: 300 }), 1_000).play();
    expect(session.act({ do: 'resume' })).toMatch(/more than the 1200 tokens/);
    expect(session.act({ do: 'budget', budget: 1_200 })).toMatch(/more than the 1200 tokens/);
    expect(session.act({ do: 'budget', budget: 2_000 })).toBeUndefined();
    expect(session.goal.status).toBe('active');
    session.play();
    expect(session.goal).toMatchObject({ status: 'budget_limited', tokens_used: 2_100 });
    session.act({ do: 'budget', budget: null });
    session.play(1);
    expect(session.goal).toMatchObject({ status: 'active', budget: null });
  });

  test('reached by the last call of a run, stops the goal between runs', () => {
    const session = new GoalSession(() => ({ ...text, tokens: 2_000 }), 1_000).play();
    expect(session.goal.status).toBe('budget_limited');
    expect(runs(session)).toEqual(['success']);
  });

  test('does not stop a run that answers the user; what that uses then is not counted', () => {
    const session = new GoalSession(script({ ...bash, tokens: 2_000 }, text), 1_000);
    session.emit(message('m1'));
    session.play();
    expect(runs(session)).toEqual(['success']);
    expect(session.calls).toHaveLength(2);
    expect(session.goal).toMatchObject({ status: 'budget_limited', tokens_used: 2_000 });
  });

  test('counts an estimate where the provider reports nothing', () => {
    const session = new GoalSession(script(text));
    const call = { operation_id: 'o', reasoning: null, finish_reason: 'stop' as const, context_digest: '' };
    const estimated_usage = { ...NO_USAGE, input_tokens: 1_000, output_tokens: 100 };
    session.emit(message('m'));
    session.emit({ ...started('m'), run_id: 'r' } as never, 'r');
    session.emit({ type: 'model_called', operation_id: 'o', model: 'm', through_seq: 4 });
    session.emit({
      type: 'assistant_message',
      ...call,
      text: 'y',
      tool_calls: [],
      usage: null,
      estimated_usage,
    });
    expect(session.goal.tokens_used).toBe(1_100);
  });
});

describe('what stops a goal', () => {
  test.each([
    'model.auth',
    'model.not_found',
    'model.bad_request',
    'model.context_too_long',
    'crash_loop',
    'internal',
  ])('a run that failed with %s blocks it, and the note says why', (code) => {
    const session = failing(code).play();
    expect(session.goal).toMatchObject({ status: 'blocked', note: 'It broke. Mend it.' });
    expect(session.calls).toHaveLength(1);
  });

  test('a quota that is used up limits it', () => {
    expect(failing('model.quota_exhausted').play().goal.status).toBe('usage_limited');
  });

  test.each(['model.unavailable', 'model.stalled', 'model.rate_limited'])(
    '%s does not: it rests and tries again, also after it got on',
    (code) => {
      const session = failing(code, 1).play(170);
      expect(session.goal).toMatchObject({ status: 'active', stalled_runs: 0, idle_runs: 1 });
      expect(session.calls).toHaveLength(2);
    },
  );

  test('an interrupt pauses it, of a run of the goal and of any other; resumed, it goes on', () => {
    for (const first of [message('m1'), undefined]) {
      const session: GoalSession = new GoalSession((call) => {
        if (call > 0) return goalIs('complete', 'done');
        session.emit({ type: 'interrupt_requested', by: 'ada' });
        return text;
      });
      if (first !== undefined) session.emit(first);
      session.play();
      expect(session.goal.status).toBe('paused');
      expect(session.events.at(-1)).toMatchObject({ type: 'goal_changed', by: 'ada', status: 'paused' });
      expect(session.act({ do: 'resume' })).toBeUndefined();
      session.play();
      expect(session.goal.status).toBe('complete');
    }
  });

  test('a run that waits for the user after a crash pauses it', () => {
    const session = new GoalSession(script(text));
    session.emit({ type: 'run_started', trigger: 'goal', message_ids: [] }, 'r1');
    session.emit(finished('interrupted'));
    session.play();
    expect(session.goal.status).toBe('paused');
  });

  test.each(['session_completed', 'session_archived'] as const)('%s pauses it', (type) => {
    const session = new GoalSession(script(text));
    session.emit({ type });
    const decision = nextStep(session.state, { history_full: false, now: '' });
    expect(decision).toMatchObject({ do: 'change_goal', status: 'paused' });
  });
});

describe('update_goal', () => {
  test('without a goal is answered by a failure that says so', () => {
    const session = new GoalSession(script(goalIs('complete', 'done')));
    session.act({ do: 'clear' });
    session.emit(message('m1'));
    session.play();
    expect(resultOf(session)).toMatchObject({
      status: 'failed',
      output: expect.stringMatching(/has no goal/),
    });
  });

  test('can not resume what the user has paused, but can say that it is complete', () => {
    const session = new GoalSession(script(goalIs('active', 'on!'), text, goalIs('complete', 'done')));
    session.act({ do: 'pause' });
    session.emit(message('m1'));
    session.play();
    expect(resultOf(session)).toMatchObject({ status: 'failed', output: expect.stringMatching(/is paused/) });
    expect(session.goal).toMatchObject({ status: 'paused', note: '' });
    session.emit(message('m2'));
    session.play();
    expect(session.goal.status).toBe('complete');
  });

  test('in a run that answers the user says when the next run of the goal has something to do', () => {
    const session = new GoalSession(script(goalIs('active', 'the build takes long', 600), text));
    session.emit(message('m1'));
    session.play(30);
    expect(session.calls).toHaveLength(2);
    expect(session.state.run).toBeNull();
    session.play(660);
    expect(session.state.run_count).toBe(2);
  });
});

describe('what a user can not do', () => {
  test.each([
    ['pause', { do: 'pause' as const }, 'a session with a goal'],
    ['resume', { do: 'resume' as const }, 'a session with a goal'],
    ['clear', { do: 'clear' as const }, 'a session with a goal'],
    ['budget', { do: 'budget' as const, budget: 1 }, 'a session with a goal'],
  ])('%s without a goal', (_, action, expected) => {
    const session = new GoalSession(script(text));
    session.act({ do: 'clear' });
    expect(session.act(action)).toBe(expected);
  });

  test('pause twice, resume an active or a complete one, set one that is too long or empty, or a budget of nothing', () => {
    const session = new GoalSession(script(goalIs('complete', 'done')));
    expect(session.act({ do: 'resume' })).toBe('a goal that has stopped');
    expect(session.act({ do: 'pause' })).toBeUndefined();
    expect(session.act({ do: 'pause' })).toBe('an active goal');
    session.act({ do: 'resume' });
    session.play();
    expect(session.act({ do: 'resume' })).toBe('a goal that is not reached yet');
    expect(session.act({ do: 'budget', budget: 5_000 })).toBe('a goal that goes on');
    for (const objective of ['', '  ', 'x'.repeat(GOAL_OBJECTIVE_MAX_CHARS + 1)])
      expect(session.act({ do: 'set', objective, budget: null })).toMatch(/^a goal of 1 to 4000 characters/);
    for (const budget of [0, -1, 1.5, Number.NaN])
      expect(session.act({ do: 'set', objective: 'x', budget })).toMatch(/whole number/);
  });
});

describe('the plan', () => {
  const steps: PlanStep[] = Array.from({ length: 43 }, (_, index) => ({
    step: `step ${index}: “quotes”, \\back\\slashes,\nlines and  blanks `,
    status: index < 20 ? 'completed' : 'pending',
  }));
  test('of 43 steps is word for word the same in the state, and after continue-as-new', () => {
    const session = new GoalSession(script(plan(steps), goalIs('complete', 'x'))).play();
    expect(describeSession(session.state).plan).toEqual(steps);
    const carried = JSON.parse(JSON.stringify(session.state)) as SessionState;
    expect(describeSession(upgradeState(carried)).plan).toEqual(steps);
  });

  test('is pushed word for word when the call that wrote it was compacted away, and only then', () => {
    const session = new GoalSession(script(plan(steps))).play();
    expect(systemOf(session.state, session.events)).not.toContain('<plan>');
    const system = systemOf(session.state, session.events.slice(-1));
    for (const { step } of steps) expect(system).toContain(step);
  });

  test('that is finished is not pushed again', () => {
    const done = steps.map(({ step }) => ({ step, status: 'completed' as const }));
    const session = new GoalSession(script(plan(done))).play();
    expect(describeSession(session.state).plan).toEqual(done);
    expect(systemOf(session.state, session.events.slice(-1))).not.toContain('<plan>');
  });

  test('that did not change leaves no event', () => {
    const session = new GoalSession(script(plan(steps), plan(steps), goalIs('complete', 'x'))).play();
    expect(session.events.filter(({ type }) => type === 'plan_changed')).toHaveLength(1);
    expect(session.state.goal?.status).toBe('complete');
  });
});

describe('what the model reads', () => {
  test('a run of the goal begins with its words: the objective, what was used, the last note, and what follows', () => {
    const session = new GoalSession(script(goalIs('active', 'CI runs since 3'), text, text), 5_000);
    session.play(10);
    const first = buildContext(session.state, session.events.slice(0, 4));
    expect(first.at(-1)).toMatchObject({
      role: 'user',
      text: expect.stringMatching(/^Goal: make it work\n/),
    });
    session.play(1_000);
    const prompts = session.events.flatMap((event) =>
      event.type === 'run_started' ? [event.prompt ?? ''] : [],
    );
    expect(prompts[0]).toContain('Tokens used so far: 0 of a budget of 5000');
    expect(prompts[0]).not.toContain('Last note');
    expect(prompts[1]).toContain('Tokens used so far: 200 of a budget of 5000');
    expect(prompts[1]).toContain('Last note: CI runs since 3');
    expect(prompts[2]).toContain('The last run changed no file, no plan and no note. After 3 such runs');
  });

  test('a run that was ended because it repeated itself is told so', () => {
    const session = new GoalSession((call) => (call < 2 ? bash : goalIs('complete', 'done'))).play();
    const prompts = session.events.flatMap((event) =>
      event.type === 'run_started' ? [event.prompt ?? ''] : [],
    );
    expect(prompts).toHaveLength(2);
    expect(prompts[1]).toContain('it only made calls that it had made before');
  });

  test('the system message names the goal until it is complete', () => {
    const session = new GoalSession(script(goalIs('complete', 'done')));
    const before = buildContext(session.state, session.events)[0]?.text;
    expect(before).toContain('<goal status="active">\nmake it work\n</goal>');
    session.play();
    expect(buildContext(session.state, session.events)[0]?.text).not.toContain('<goal');
  });
});

test('the story tells goal and plan', () => {
  const steps: PlanStep[] = [{ step: 'read *all*', status: 'in_progress' }];
  const answer: Answer = { calls: [{ tool: 'update_plan', args: { steps } }] };
  const session = new GoalSession(script(answer, goalIs('blocked', 'I need a key')), 5_000).play();
  const story = tellStory(session.state, session.events);
  expect(story).toContain('### Goal\n\n- **blocked** · 200 of 5000 tokens\n- make it work\n- I need a key');
  expect(story).toContain('### Plan\n\n- \\[\\~\\] read \\*all\\*');
});

test('a session of before there were goals goes on without one', () => {
  const state = stateOf(log(created(), message('m1'), started('m1'), loaded));
  const { goal: _, plan: _plan, ...old } = state;
  const upgraded = upgradeState(old as SessionState);
  expect(upgraded).toEqual(state);
  expect(nextStep(upgraded, { history_full: false, now: '' })).toMatchObject({ do: 'call_model' });
  expect(describeSession(upgraded)).toMatchObject({ goal: null, plan: null, usage: NO_USAGE });
});
