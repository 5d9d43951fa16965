import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SessionSettings } from '../../src/domain/event.ts';
import { describeSession } from '../../src/domain/facts.ts';
import { applyEvent } from '../../src/domain/fold.ts';
import {
  CALL_IDS_KEPT,
  CALLS_PER_REPLY_MAX,
  GOAL_SEEN_KEPT,
  MESSAGE_IDS_KEPT,
  RUNS_KEPT,
  UNCERTAIN_KEPT,
} from '../../src/domain/limits.ts';
import type { SessionState } from '../../src/domain/session.ts';
import { nextStep } from '../../src/domain/step.ts';
import type { Decision } from '../../src/domain/step.ts';
import { tellStory } from '../../src/domain/story.ts';
import { anyEvents } from './support/anyEvents.ts';
import { stateOf } from './support/events.ts';
import { freeze } from './support/freeze.ts';
import { Simulation } from './support/simulation.ts';
import type { Watcher } from './support/simulation.ts';

/** A failure prints its seed and path; `{seed, path}` here plays it again. */
const SESSIONS = { numRuns: 2_000 };
const SEQUENCES = { numRuns: 5_000 };

const tape = fc.array(fc.nat(255), { maxLength: 250, size: 'max' });
const settings = fc.record({
  approval: fc.constantFrom('auto' as const, 'ask' as const, 'read-only' as const),
  on_interrupt: fc.constantFrom('continue' as const, 'wait' as const),
});

/** Plays many sessions to their rest; each state and event of them is frozen on the way. */
function everySession(watcher: Watcher, check: (session: Simulation) => void = () => {}): void {
  fc.assert(
    fc.property(tape, settings, (numbers: number[], chosen: Partial<SessionSettings>) => {
      const session = new Simulation(numbers, chosen, watcher);
      session.run();
      check(session);
    }),
    SESSIONS,
  );
}

test('every session comes to rest, and no decision goes without an event', () => {
  everySession({}, ({ state }) => {
    const resting =
      state.run === null || state.run.calls.some(({ status }) => status === 'awaiting_approval');
    expect(resting).toBe(true);
  });
});

test('sessions come through every decision, so that what is said of all is said of each', () => {
  const seen = new Set<Decision['do']>();
  everySession({ onDecision: (_, decision) => seen.add(decision.do) });
  expect([...seen].toSorted()).toEqual([
    'attach',
    'call_model',
    'change_goal',
    'close',
    'compact',
    'finish_run',
    'load_project',
    'reconcile',
    'request_approval',
    'roll_over',
    'run_tools',
    'settle',
    'start_run',
    'wait',
  ]);
});

test('deciding twice gives the same, also after the state went through a payload', () => {
  everySession({
    onDecision: ({ state, full, now }, decision) => {
      const carried = JSON.parse(JSON.stringify(state)) as SessionState;
      expect(carried).toEqual(state);
      expect(nextStep(state, { history_full: full, now })).toEqual(decision);
      expect(nextStep(carried, { history_full: full, now })).toEqual(decision);
    },
  });
});

test('the same events give the same state, from the beginning and from any state between', () => {
  everySession({}, ({ state, events }) => {
    expect(stateOf(events)).toEqual(state);
    const half = Math.ceil(events.length / 2);
    const carried = JSON.parse(JSON.stringify(stateOf(events.slice(0, half)))) as SessionState;
    expect(events.slice(half).reduce(applyEvent, carried)).toEqual(state);
  });
});

test('a session knows the project as its last run found it, also where that run recorded a digest alone', () => {
  let unchanged = 0;
  everySession({}, ({ state, events }) => {
    const last = events.findLast((event) => event.type === 'project_loaded');
    if (last?.type !== 'project_loaded') return expect(state.project).toBeNull();
    if (last.project.unchanged === true) unchanged += 1;
    const { digest } = last.project;
    expect(state.project).toMatchObject({ digest, instructions: [{ path: 'AGENTS.md', text: digest }] });
  });
  expect(unchanged).toBeGreaterThan(0);
});

test('a call has one result at most, and none runs again that has begun, unless its tool found it not run', () => {
  const results = new Map<Simulation, Set<string>>();
  everySession({
    onEvent: (session, event) => {
      if (event.type !== 'tool_result') return;
      const known = results.get(session) ?? new Set();
      results.set(session, known);
      expect(known.has(event.operation_id)).toBe(false);
      known.add(event.operation_id);
    },
    onDecision: ({ events }, decision) => {
      if (decision.do !== 'run_tools') return;
      for (const { operation_id } of decision.calls) {
        const last = events.findLast(
          (event) => event.type === 'tool_recovery' && event.operation_id === operation_id,
        );
        expect(last).toSatisfy(() => last?.type !== 'tool_recovery' || last.status === 'not_run');
      }
    },
  });
});

test('an interrupted run pays no further call, runs no tool, and leaves nothing open', () => {
  everySession({
    onDecision: ({ state, interrupted }, decision) => {
      if (!interrupted) return;
      expect(['call_model', 'run_tools', 'request_approval', 'load_project', 'wait']).not.toContain(
        decision.do,
      );
      if (decision.do !== 'finish_run' || decision.status !== 'interrupted') return;
      expect(state.run?.calls.every(({ status }) => status === 'settled')).toBe(true);
    },
  });
});

test('no side effect runs without approval in a session that asks, and none in one that only reads', () => {
  everySession({
    onDecision: ({ state }, decision) => {
      if (decision.do !== 'run_tools') return;
      const { approval } = state.settings;
      for (const call of decision.calls) {
        if (approval === 'read-only') expect(call.effect).toBe('read');
        if (approval === 'ask' && call.effect === 'side_effect') expect(call.approved).toBe(true);
      }
    },
  });
});

test('a goal pays no call beyond its budget, and starts a run only when nothing else is to be done and its time has come', () => {
  everySession({
    onDecision: ({ state, now }, decision) => {
      const { goal } = state;
      if (decision.do === 'call_model' && goal?.status === 'active' && goal.budget !== null)
        expect(goal.tokens_used).toBeLessThan(goal.budget);
      if (decision.do !== 'start_run' || decision.trigger !== 'goal') return;
      expect(state).toMatchObject({ status: 'active', queue: [], goal: { status: 'active' } });
      expect(now >= (goal?.next_run_at ?? '')).toBe(true);
      expect(decision.prompt).toContain(goal?.objective);
    },
  });
});

test('a session that rests has no goal that is active', () => {
  everySession({}, ({ state }) => {
    if (state.run === null) expect(state.goal?.status).not.toBe('active');
  });
});

test('whatever the events are, the fold is pure, its state is plain JSON and bounded, and a decision follows', () => {
  fc.assert(
    fc.property(anyEvents, fc.boolean(), (events, history_full) => {
      const state = events.reduce<SessionState | null>(
        (before, event) => freeze(applyEvent(before, freeze(event))),
        null,
      );
      if (state === null) throw new Error('Expected at least one event.');
      expect(JSON.parse(JSON.stringify(state))).toEqual(state);
      expectBounded(state);
      expect(nextStep(state, { history_full, now: state.updated_at })).toHaveProperty('do');
      expect(JSON.parse(JSON.stringify(describeSession(state)))).toEqual(describeSession(state));
      expect(tellStory(state, events)).toBeTypeOf('string');
    }),
    SEQUENCES,
  );
});

function expectBounded(state: SessionState): void {
  expect(state.runs.length).toBeLessThanOrEqual(RUNS_KEPT);
  expect(state.message_ids.length).toBeLessThanOrEqual(MESSAGE_IDS_KEPT);
  expect(state.call_ids.length).toBeLessThanOrEqual(CALL_IDS_KEPT);
  expect(state.uncertain.length).toBeLessThanOrEqual(UNCERTAIN_KEPT);
  expect(state.run?.calls.length ?? 0).toBeLessThanOrEqual(CALLS_PER_REPLY_MAX);
  expect(state.goal?.seen.length ?? 0).toBeLessThanOrEqual(GOAL_SEEN_KEPT);
  expect(state.goal?.run?.seen.length ?? 0).toBeLessThanOrEqual(GOAL_SEEN_KEPT);
  expect(state.goal?.seconds_used ?? 0).toBeGreaterThanOrEqual(0);
}
