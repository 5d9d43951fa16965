import { describe, expect, test } from 'vitest';
import {
  chooseCut,
  type Cut,
  cutsOf,
  keptBeside,
  NOTHING_TO_SUMMARISE,
} from '../../src/domain/compaction.ts';
import { buildContext } from '../../src/domain/context.ts';
import type { EventBody, SessionEvent, Summary } from '../../src/domain/event.ts';
import { SUMMARY_MESSAGES_MAX_BYTES } from '../../src/domain/limits.ts';
import { nextStep } from '../../src/domain/step.ts';
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
  SESSION_ID,
  started,
  stateOf,
} from './support/events.ts';

const usage = { input_tokens: 100, cached_input_tokens: 0, output_tokens: 10, reasoning_tokens: 0 };

/** Two runs; the second has asked for a call and has its result. */
const TWO_RUNS: EventBody[] = [
  created(), // 1
  message('a'),
  started('a'),
  loaded,
  called(4),
  replied('first', [], { usage }), // 6
  finished(),
  message('b'),
  started('b'), // 9
  loaded,
  called(10), // 11
  replied('', asked('x')),
  accepted('x'),
  result('x'), // 14
];

const one = (): number => 1;

function cutSeqs(events: SessionEvent[]): number[] {
  return cutsOf(stateOf(events), events, one).map(({ through_seq }) => through_seq);
}

function summaryOf(through_seq: number, more: Partial<Summary> = {}): EventBody {
  return {
    type: 'summary_created',
    operation_id: `${SESSION_ID}.c1`,
    through_seq,
    text: 'so far',
    user_messages: [],
    carried: [],
    tokens_before: 900,
    tokens_after: 90,
    usage,
    ...more,
  };
}

describe('a conversation can be cut', () => {
  test('before each run and each step, and at its end', () => {
    expect(cutSeqs(log(...TWO_RUNS))).toEqual([2, 4, 8, 10, 14]);
  });

  test('not behind a call that its tool has still to look up', () => {
    const waiting = created({ on_interrupt: 'wait' });
    const open = log(waiting, ...TWO_RUNS.slice(1, 13), recovery('x', 'uncertain'), finished('interrupted'));
    expect(cutSeqs(open)).toEqual([2, 4, 8, 10]);
  });

  test('but behind one whose end nobody will ever know', () => {
    const unknown = log(...TWO_RUNS.slice(0, 13), recovery('x', 'unknown'));
    expect(cutSeqs(unknown)).toEqual([2, 4, 8, 10, 14]);
  });

  test('nowhere before the end of the last summary', () => {
    const events = log(
      ...TWO_RUNS,
      summaryOf(8),
      called(15, 2),
      replied('', asked('y')),
      accepted('y'),
      result('y'),
    );
    const visible = events.filter(({ seq }) => seq > 8);
    expect(cutsOf(stateOf(events), visible, one).map(({ through_seq }) => through_seq)).toEqual([10, 15, 19]);
  });
});

describe('the cut that is made', () => {
  const cuts: Cut[] = [10, 20, 30, 40, 50].map((tokens) => ({ through_seq: tokens, tokens: tokens * 1_000 }));

  test('leaves the last steps up to a fifth of the window', () => {
    expect(chooseCut(cuts, 50_000)?.through_seq).toBe(40);
  });

  test('leaves at most 20,000 tokens, and a quarter of a short conversation', () => {
    expect(chooseCut(cuts, 1_000_000)?.through_seq).toBe(40);
    expect(chooseCut([...cuts, { through_seq: 99, tokens: 99_000 }], 1_000_000)?.through_seq).toBe(99);
  });

  test('leaves nothing when the last step alone is too large', () => {
    expect(
      chooseCut(
        [
          { through_seq: 1, tokens: 10 },
          { through_seq: 2, tokens: 90_000 },
        ],
        100_000,
      )?.through_seq,
    ).toBe(2);
  });

  test('is none where there is nothing', () => {
    expect(chooseCut([], 100_000)).toBe(undefined);
  });
});

describe('beside a summary is kept', () => {
  test('what waits, as it is, and what the user has said, word for word', () => {
    const events = log(...TWO_RUNS, message('c'), message('d', 'steer'));
    expect(keptBeside(stateOf(events), events, 16)).toEqual({
      carried: [15, 16],
      user_messages: ['text of a', 'text of b'],
    });
  });

  test('a message that had come before the cut and entered after it', () => {
    const waiting = [...TWO_RUNS.slice(0, 7), message('s'), ...TWO_RUNS.slice(7)];
    const { carried } = keptBeside(stateOf(log(...waiting)), log(...waiting), 10);
    expect(carried).toEqual([8]);
    const events = log(...waiting, summaryOf(10, { carried }), finished(), started('s'));
    expect(buildContext(stateOf(events), events).map(({ text }) => text)).toContain('text of s');
  });

  test('the call whose end is unknown, so that a person’s later word names it', () => {
    const unknown = [...TWO_RUNS.slice(0, 13), recovery('x', 'unknown')];
    const { carried } = keptBeside(stateOf(log(...unknown)), log(...unknown), 14);
    expect(carried).toEqual([13]);
    const settled = log(...unknown, summaryOf(14, { carried }), recovery('x', 'completed', { by: 'user' }));
    expect(buildContext(stateOf(settled), settled).at(-1)?.text).toContain(
      'call x (bash: run x): the user says',
    );
  });

  test('as many of the user’s messages as there is room for, the newest first, the last at least in part', () => {
    const long = 'x'.repeat(SUMMARY_MESSAGES_MAX_BYTES / 6);
    const bodies = ['1', '2', '3', '4'].flatMap((id): EventBody[] => [
      { type: 'user_message', message_id: id, text: id + long, delivery: 'queue' },
      started(id),
      finished(),
    ]);
    const events = log(created(), ...bodies);
    const { user_messages } = keptBeside(stateOf(events), events, events.length);
    expect(user_messages.map((text) => text[0])).toEqual(['4']);
    const huge = log(
      created(),
      { type: 'user_message', message_id: '1', text: 'y'.repeat(100_000), delivery: 'queue' },
      started('1'),
    );
    expect(keptBeside(stateOf(huge), huge, 3).user_messages[0]).toMatch(/^y+\n\[cut\]$/);
  });
});

describe('a session with a summary', () => {
  const events = log(...TWO_RUNS, summaryOf(10, { user_messages: ['text of a', 'text of b'] }));

  test('tells the model the summary, then what came after it', () => {
    const [system, summary, ...rest] = buildContext(stateOf(events), events);
    expect(system?.role).toBe('system');
    expect(summary?.text).toContain('so far');
    expect(summary?.text).toContain('<message>text of b</message>');
    expect(rest.map(({ role }) => role)).toEqual(['assistant', 'tool']);
  });

  test('has paid for it, knows how large its context is, and makes the call that had no room', () => {
    const state = stateOf(events);
    expect(state.context_tokens).toBe(90);
    expect(state.run?.usage.input_tokens).toBe(100);
    expect(nextStep(state, { history_full: false, now: '' })).toMatchObject({ do: 'call_model' });
    const between = stateOf(log(...TWO_RUNS.slice(0, 7), summaryOf(6)));
    expect(between.usage.input_tokens).toBe(100);
  });

  test('keeps the versions of the files that it has seen, its plan and its goal', () => {
    const seen = { versions: [{ path: 'a.txt', version: 'v1' }] };
    const plan: EventBody = { type: 'plan_changed', steps: [{ step: 'mend it', status: 'in_progress' }] };
    const goal: EventBody = { type: 'goal_set', objective: 'all is well', budget: null, by: 'ada' };
    const events = log(...TWO_RUNS.slice(0, 13), result('x', 'read', seen), plan, goal, summaryOf(16));
    expect(stateOf(events)).toMatchObject({ file_versions: seen.versions, plan: plan.steps });
    const [system] = buildContext(stateOf(events), events);
    expect(system?.text).toContain('all is well');
    expect(system?.text).toContain('[~] mend it');
  });

  test('lists the operations that are uncertain still, and no longer those that were settled since', () => {
    const unknown = [...TWO_RUNS.slice(0, 13), recovery('x', 'unknown'), summaryOf(14, { carried: [13] })];
    expect(buildContext(stateOf(log(...unknown)), log(...unknown))[1]?.text).toContain(
      'call x (bash: run x)',
    );
    const settled = log(...unknown, recovery('x', 'not_run', { by: 'user' }));
    expect(buildContext(stateOf(settled), settled)[1]?.text).not.toContain('<uncertain>');
  });
});

test('a run whose context can not be summarised asks the model all the same, once, and then as usual', () => {
  const full: EventBody = { type: 'context_full', operation_id: 'o', tokens: 9, window: 10, by: 'count' };
  const error = { code: NOTHING_TO_SUMMARISE, message: '', remedy: '' };
  const failed: EventBody = { type: 'compaction_failed', operation_id: 'c', error };
  const decide = (...more: EventBody[]) =>
    nextStep(stateOf(log(...TWO_RUNS, called(14, 2), full, ...more)), { history_full: false, now: '' });
  expect(decide()).toMatchObject({ do: 'compact', operation_id: `${SESSION_ID}.c1`, through_seq: 16 });
  expect(decide(failed)).toMatchObject({ do: 'call_model', unchecked: true });
  const after = decide(
    failed,
    called(17, 3),
    replied('', asked('y'), { step: 3 }),
    accepted('y'),
    result('y'),
  );
  expect(after).toEqual({ do: 'call_model', operation_id: `${SESSION_ID}.r2.s4.0`, through_seq: 21 });
});
