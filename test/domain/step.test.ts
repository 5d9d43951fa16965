import { describe, expect, test } from 'vitest';
import type { EventBody, SessionSettings } from '../../src/domain/event.ts';
import { CRASH_BUDGET_RECOVERIES } from '../../src/domain/limits.ts';
import { nextStep } from '../../src/domain/step.ts';
import type { Decision } from '../../src/domain/step.ts';
import {
  accepted,
  asked,
  called,
  created,
  finished,
  loaded,
  log,
  message,
  recovery,
  replied,
  result,
  RUN,
  started,
  stateOf,
} from './support/events.ts';

/** What a session with these settings does next, after these events. */
function next(settings: Partial<SessionSettings>, ...bodies: EventBody[]): Decision {
  return nextStep(stateOf(log(created(settings), ...bodies)), { history_full: false, now: '' });
}

function nextWhenFull(...bodies: EventBody[]): Decision {
  return nextStep(stateOf(log(created(), ...bodies)), { history_full: true, now: '' });
}

/** The decision in short: what it does, and to which calls. */
function short(decision: Decision): string {
  if (!('calls' in decision)) return decision.do;
  return `${decision.do} ${decision.calls.map(({ call_id }) => call_id).join()}`;
}

const interrupt: EventBody = { type: 'interrupt_requested', by: 'ada' };
const BEGUN = [message('m1'), started('m1'), loaded];
const CALLING = [...BEGUN, called(4), replied('', asked('c0', 'c1')), accepted('c0'), accepted('c1')];
const lost = (call_id: string): EventBody => recovery(call_id, 'uncertain');

function lostAgain(times: number): EventBody[] {
  return Array.from({ length: times }, () => [recovery('c0', 'not_run'), lost('c0')]).flat();
}

function requested(call_id: string): EventBody {
  return { type: 'approval_requested', call_id };
}

function approved(call_id: string): EventBody {
  return { type: 'approval_decided', call_id, by: 'ada', decision: 'approve', reason: '' };
}

/** A reply that asks for one call of each effect, `c0` and so on. */
function calling(...effects: ('read' | 'idempotent' | 'side_effect')[]): EventBody[] {
  const ids = effects.map((_, index) => `c${index}`);
  const calls = ids.map((id, index) => accepted(id, { effect: effects[index] ?? 'read' }));
  return [...BEGUN, called(4), replied('', asked(...ids)), ...calls];
}

describe('between runs', () => {
  test('a session waits for a message, and an archived one closes', () => {
    expect(next({})).toEqual({ do: 'wait' });
    expect(next({}, { type: 'session_archived' })).toEqual({ do: 'close' });
    expect(next({}, { type: 'session_completed' })).toEqual({ do: 'wait' });
  });

  test('the first message starts a run; one that came too late to steer goes before the queue', () => {
    const start = { do: 'start_run', trigger: 'message' };
    expect(next({}, message('m1'), message('m2'))).toEqual({ ...start, message_ids: ['m1'] });
    expect(next({}, message('m1'), message('m2', 'steer'))).toEqual({ ...start, message_ids: ['m2'] });
    expect(next({}, message('m1'), { type: 'session_archived' })).toEqual({ ...start, message_ids: ['m1'] });
  });

  test('a full history rolls over before anything else', () => {
    expect(nextWhenFull()).toEqual({ do: 'roll_over' });
    expect(nextWhenFull(message('m1'))).toEqual({ do: 'roll_over' });
    expect(nextWhenFull({ type: 'session_archived' })).toEqual({ do: 'roll_over' });
  });
});

describe('a run', () => {
  test('loads the project, then calls the model with all that is there', () => {
    expect(next({}, message('m1'), started('m1'))).toEqual({ do: 'load_project' });
    expect(next({}, ...BEGUN)).toEqual({ do: 'call_model', operation_id: `${RUN}.s1.0`, through_seq: 4 });
  });

  test('names each step anew', () => {
    expect(next({}, ...CALLING, result('c0'), result('c1'))).toMatchObject({ operation_id: `${RUN}.s2.0` });
  });

  test('ends with an answer, unless somebody steers', () => {
    const answered = [...BEGUN, called(4), replied('done')];
    expect(next({}, ...answered)).toEqual({ do: 'finish_run', status: 'success', error: null });
    expect(next({}, ...answered, message('m2'))).toMatchObject({ do: 'finish_run' });
    expect(next({}, ...answered, message('m2', 'steer'))).toMatchObject({ do: 'call_model', through_seq: 7 });
  });

  test('ends as failed when the answer holds nothing', () => {
    expect(next({}, ...BEGUN, called(4), replied(''))).toMatchObject({
      do: 'finish_run',
      status: 'failed',
      error: { code: 'model.malformed' },
    });
  });

  test('rolls over between steps, never with a call under way', () => {
    expect(nextWhenFull(...BEGUN)).toEqual({ do: 'roll_over' });
    expect(short(nextWhenFull(...CALLING))).toBe('run_tools c0');
    expect(short(nextWhenFull(...CALLING, lost('c0')))).toBe('reconcile c0');
  });
});

describe('calls', () => {
  test('with effects run alone and in order, reads in a row run together', () => {
    expect(short(next({}, ...calling('side_effect', 'read')))).toBe('run_tools c0');
    expect(short(next({}, ...calling('read', 'read', 'side_effect', 'read')))).toBe('run_tools c0,c1');
    expect(short(next({}, ...calling('idempotent', 'idempotent')))).toBe('run_tools c0');
    expect(short(next({}, ...calling('read', 'read')))).toBe('run_tools c0,c1');
  });

  test('that can not be run are settled before others run', () => {
    const bad = accepted('c1', { problem: 'no such tool' });
    const decision = next({}, ...BEGUN, called(4), replied('', asked('c0', 'c1')), accepted('c0'), bad);
    expect(decision).toMatchObject({
      do: 'settle',
      settlements: [{ call: { call_id: 'c1' }, status: 'failed', output: 'no such tool' }],
    });
  });

  test('of a read-only session are denied where they have effects', () => {
    expect(next({ approval: 'read-only' }, ...calling('read', 'side_effect', 'idempotent'))).toMatchObject({
      do: 'settle',
      settlements: [
        { call: { call_id: 'c1' }, status: 'denied' },
        { call: { call_id: 'c2' }, status: 'denied' },
      ],
    });
  });
});

describe('approval', () => {
  const ask = { approval: 'ask' } as const;

  test('is asked for all side effects of a reply at once, and for nothing else', () => {
    expect(short(next(ask, ...calling('side_effect', 'read', 'idempotent', 'side_effect')))).toBe(
      'request_approval c0,c3',
    );
    expect(short(next(ask, ...calling('read')))).toBe('run_tools c0');
  });

  test('is waited for, in order: what stands behind an open question does not run before it', () => {
    expect(short(next(ask, ...CALLING, requested('c0'), requested('c1')))).toBe('wait');
    expect(short(next(ask, ...CALLING, requested('c0'), requested('c1'), approved('c1')))).toBe('wait');
    expect(short(next(ask, ...CALLING, requested('c0'), requested('c1'), approved('c0')))).toBe(
      'run_tools c0',
    );
  });

  test('that is awaited lets the history roll over', () => {
    const state = stateOf(log(created(ask), ...CALLING, requested('c0'), requested('c1')));
    expect(nextStep(state, { history_full: true, now: '' })).toEqual({ do: 'roll_over' });
  });

  test('is not asked twice when the call was lost and not run', () => {
    const again = [lost('c0'), recovery('c0', 'not_run')];
    expect(
      short(
        next(ask, ...CALLING, requested('c0'), requested('c1'), approved('c0'), approved('c1'), ...again),
      ),
    ).toBe('run_tools c0');
  });
});

describe('a lost call', () => {
  test('is asked about before anything else happens', () => {
    expect(short(next({}, ...CALLING, lost('c1')))).toBe('reconcile c1');
    expect(short(next({}, ...CALLING, lost('c0'), lost('c1')))).toBe('reconcile c0,c1');
  });

  test('that still runs is waited for, that was not run is run, that is unknown is left', () => {
    expect(next({}, ...CALLING, lost('c0'), recovery('c0', 'running'))).toMatchObject({
      do: 'attach',
      stop: false,
      calls: [{ call_id: 'c0' }],
    });
    expect(short(next({}, ...CALLING, lost('c0'), recovery('c0', 'not_run')))).toBe('run_tools c0');
    expect(short(next({}, ...CALLING, lost('c0'), recovery('c0', 'unknown')))).toBe('run_tools c1');
  });

  test('of an earlier run is looked for before the project, by its own attempt', () => {
    const again = [recovery('c0', 'not_run'), lost('c0')];
    const later = [finished('failed'), message('m2'), started('m2')];
    expect(next({}, ...CALLING, lost('c0'), ...again, ...later)).toMatchObject({
      do: 'reconcile',
      calls: [{ call_id: 'c0', operation_id: 'op_c0', attempt: 2, target: 'run c0' }],
    });
    expect(short(next({}, ...CALLING, lost('c0'), ...later, recovery('c0', 'running')))).toBe('attach c0');
    expect(short(next({}, ...CALLING, lost('c0'), ...later, recovery('c0', 'unknown')))).toBe('load_project');
  });

  test('interrupts the run of a session that waits, and is asked about when the user speaks', () => {
    const wait = { on_interrupt: 'wait' } as const;
    const ended = { do: 'finish_run', status: 'interrupted', error: null };
    expect(next(wait, ...CALLING, lost('c0'))).toEqual(ended);
    expect(next(wait, ...CALLING, lost('c0'), finished('interrupted'))).toEqual({ do: 'wait' });
    const spoken = [finished('interrupted'), message('m2'), started('m2')];
    expect(short(next(wait, ...CALLING, lost('c0'), ...spoken))).toBe('reconcile c0');
    expect(short(next(wait, ...CALLING, lost('c0'), ...spoken, recovery('c0', 'running')))).toBe('attach c0');
  });

  test('too often in a row ends the run as a crash loop', () => {
    expect(short(next({}, ...CALLING, ...lostAgain(CRASH_BUDGET_RECOVERIES)))).toBe('reconcile c0');
    expect(next({}, ...CALLING, ...lostAgain(CRASH_BUDGET_RECOVERIES + 1))).toMatchObject({
      do: 'finish_run',
      status: 'failed',
      error: {
        code: 'crash_loop',
        message: 'The worker was lost 6 times in a row without one finished step.',
      },
    });
  });
});

describe('an interrupt', () => {
  test('cancels what has not begun, also what waits for a person or can not be run', () => {
    const bad = accepted('c2', { problem: 'no such tool' });
    expect(next({}, ...CALLING, bad, requested('c0'), interrupt)).toMatchObject({
      do: 'settle',
      settlements: ['c0', 'c1', 'c2'].map((call_id) => ({ call: { call_id }, status: 'cancelled' })),
    });
  });

  test('stops what still runs', () => {
    expect(next({}, ...CALLING, lost('c0'), recovery('c0', 'running'), interrupt)).toMatchObject({
      do: 'attach',
      stop: true,
    });
  });

  test('asks about what was lost, also in a session that waits', () => {
    expect(short(next({ on_interrupt: 'wait' }, ...CALLING, lost('c0'), interrupt))).toBe('reconcile c0');
  });

  test('cancels a call that turned out not to have been run', () => {
    const found = [lost('c0'), interrupt, recovery('c0', 'not_run')];
    expect(next({}, ...CALLING, ...found)).toMatchObject({ do: 'settle' });
  });

  test('does not say of a call that was lost and may be repeated that it was not run', () => {
    const found = [lost('c0'), recovery('c0', 'not_run'), interrupt];
    expect(next({}, ...CALLING, ...found)).toMatchObject({
      settlements: [
        { output: expect.stringMatching(/^Not run again: .* An attempt before was lost/) },
        { output: 'Not run: the user interrupted the run before this call began.' },
      ],
    });
  });

  test('ends the run when everything is settled, before another call is paid', () => {
    const ended = { do: 'finish_run', status: 'interrupted', error: null };
    expect(next({}, ...CALLING, result('c0'), result('c1'), interrupt)).toEqual(ended);
    expect(next({}, ...BEGUN, called(4), interrupt)).toEqual(ended);
    expect(next({}, message('m1'), started('m1'), interrupt)).toEqual(ended);
  });
});
