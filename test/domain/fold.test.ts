import { describe, expect, test } from 'vitest';
import type { EventBody } from '../../src/domain/event.ts';
import { applyEvent } from '../../src/domain/fold.ts';
import {
  CALL_IDS_KEPT,
  CARRIED_EVENTS_MAX_BYTES,
  EVIDENCE_MAX_BYTES,
  FILE_VERSIONS_KEPT,
  FILE_VERSIONS_PATHS_MAX_CHARS,
  GOAL_OBJECTIVE_MAX_CHARS,
  GOAL_SEEN_KEPT,
  PLAN_MAX_BYTES,
  MESSAGE_IDS_KEPT,
  RUNS_KEPT,
  UNCERTAIN_KEPT,
} from '../../src/domain/limits.ts';
import { NO_USAGE } from '../../src/domain/model.ts';
import type { CallState, RunState, SessionState } from '../../src/domain/session.ts';
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
  SETTINGS,
  started,
  stateOf,
  timeOf,
} from './support/events.ts';

const CALLING = [
  message('m1'),
  started('m1'),
  loaded,
  called(4),
  replied('', asked('c0', 'c1')),
  accepted('c0'),
  accepted('c1'),
];

function after(...bodies: EventBody[]): SessionState {
  return stateOf(log(created(), ...bodies));
}

function runAfter(...bodies: EventBody[]): RunState {
  const { run } = after(...bodies);
  if (run === null) throw new Error('Expected a run under way, found none.');
  return run;
}

function statusesAfter(...bodies: EventBody[]): CallState['status'][] {
  return runAfter(...CALLING, ...bodies).calls.map(({ status }) => status);
}

/** The longest id of a call that is taken from a model (activities/model/replyDraft.ts). */
const ID_CHARS = 256;

/** Temporal's limit for one payload (limit.blobSize.error). */
const PAYLOAD_MAX_BYTES = 2 * 1024 * 1024;

function longId(kind: string, index: number): string {
  return `${kind}${index}`.padEnd(ID_CHARS, '-');
}

function saw(call_id: string, path: string, version: string): EventBody {
  return result(call_id, '', { versions: [{ path, version }] });
}

function lost(call_id: string): EventBody {
  return recovery(call_id, 'uncertain');
}

function again(call_id: string): EventBody {
  return recovery(call_id, 'not_run');
}

function many<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

test('a session begins with session_created and with nothing else', () => {
  const [first] = log(created());
  const [other] = log(message('m1'));
  if (first === undefined || other === undefined) throw new Error('Expected two events.');
  expect(applyEvent(null, first)).toMatchObject({
    version: 1,
    session_id: 'k3v9x2m7q4ta',
    status: 'active',
    seq: 1,
    created_at: timeOf(1),
    updated_at: timeOf(1),
    run: null,
    settings: SETTINGS,
  });
  expect(() => applyEvent(null, other)).toThrow(
    'Expected session_created as the first event, found user_message.',
  );
});

describe('messages', () => {
  test('wait in the queue until a run takes them', () => {
    const state = after(message('m1'), message('m2', 'steer'), started('m1'));
    expect(state.queue).toEqual([{ message_id: 'm2', seq: 3, delivery: 'steer' }]);
    expect(state.message_ids).toEqual(['m1', 'm2']);
  });

  test('that steer leave with the call that is sent them; later ones and the queue stay', () => {
    const state = after(
      message('m1'),
      started('m1'),
      loaded,
      message('early', 'steer'),
      message('queued'),
      called(6),
      message('late', 'steer'),
    );
    expect(state.queue.map(({ message_id }) => message_id)).toEqual(['queued', 'late']);
  });
});

describe('a run', () => {
  test('is numbered and listed from its start to its end', () => {
    const usage = { ...NO_USAGE, input_tokens: 7 };
    const error = { code: 'model.auth', message: 'no key', remedy: 'set one' };
    const ended = { ...finished('failed'), error, usage } as EventBody;
    const state = after(message('m1'), started('m1'), ended, message('m2'), started('m2'));
    expect(state.run_count).toBe(2);
    expect(state.runs).toEqual([
      { run_id: RUN, status: 'failed', started_at: timeOf(3), finished_at: timeOf(4), error, usage },
      {
        run_id: 'k3v9x2m7q4ta.r2',
        status: 'running',
        started_at: timeOf(6),
        finished_at: null,
        error: null,
        usage: NO_USAGE,
      },
    ]);
    expect(state.run?.number).toBe(2);
    expect(state.usage).toEqual(usage);
  });

  test('adds up the usage of its replies, also where a provider sends none', () => {
    const usage = { input_tokens: 10, cached_input_tokens: 4, output_tokens: 3, reasoning_tokens: 2 };
    const one = replied('', asked('c0'), { usage });
    const run = runAfter(message('m1'), started('m1'), loaded, called(4), one, called(6, 2), replied('hi'));
    expect(run.usage).toEqual(usage);
  });

  test('counts its steps and forgets the calls of the one before', () => {
    const run = runAfter(...CALLING, result('c0'), result('c1'), called(10, 2));
    expect(run).toMatchObject({ step: 2, calls: [], model_call: { through_seq: 10 } });
  });

  test.each([
    ['hi', 'stop', null],
    ['', 'stop', "The model's reply held neither text nor a tool call (finish reason stop)."],
    [' \n', 'length', "The model's reply held neither text nor a tool call (its length limit was reached)."],
  ] as const)('that was answered with %j (%s) has the error %j', (text, finish_reason, found) => {
    const reply = { ...replied(text), finish_reason } as EventBody;
    const run = runAfter(message('m1'), started('m1'), loaded, called(4), reply);
    expect(run.answered).toBe(true);
    expect(run.model_call).toBeNull();
    expect(run.reply_error?.message ?? null).toBe(found);
  });
});

describe('a call', () => {
  test('is pending, waits for a person, is approved, and is settled by its result', () => {
    const request: EventBody = { type: 'approval_requested', call_id: 'c0' };
    const approve: EventBody = {
      type: 'approval_decided',
      call_id: 'c0',
      by: 'ada',
      decision: 'approve',
      reason: '',
    };
    expect(statusesAfter()).toEqual(['pending', 'pending']);
    expect(statusesAfter(request)).toEqual(['awaiting_approval', 'pending']);
    expect(runAfter(...CALLING, request, approve).calls[0]).toMatchObject({
      status: 'pending',
      approved: true,
    });
    expect(statusesAfter(request, { ...approve, decision: 'deny' })).toEqual([
      'awaiting_approval', // its denied result follows
      'pending',
    ]);
    expect(statusesAfter(request, approve, result('c0'))).toEqual(['settled', 'pending']);
  });

  test.each([
    ['uncertain', 'uncertain', 1],
    ['completed', 'uncertain', 0],
    ['running', 'attached', 1],
    ['not_run', 'pending', 0],
    ['unknown', 'settled', 1],
  ] as const)('that its tool found %s is %s, and %i stay uncertain', (found, status, open) => {
    expect(statusesAfter(recovery('c0', found))).toEqual([status, 'pending']);
    expect(after(...CALLING, recovery('c0', found)).uncertain).toHaveLength(open);
  });

  test.each(['completed', 'not_run'] as const)('that a person settled as %s is settled', (status) => {
    const word = recovery('c0', status, { by: 'user' });
    expect(statusesAfter(recovery('c0', 'unknown'), word)).toEqual(['settled', 'pending']);
    expect(after(...CALLING, recovery('c0', 'unknown'), word).uncertain).toEqual([]);
  });

  test('that was not run is tried again as another attempt', () => {
    const { calls } = runAfter(...CALLING, recovery('c0', 'uncertain'), recovery('c0', 'not_run'));
    expect(calls[0]).toMatchObject({ attempt: 2, status: 'pending' });
  });

  test('of an earlier run keeps its words while its uncertainty is looked into', () => {
    const later = [finished('failed'), message('m2'), started('m2'), recovery('c0', 'running')];
    expect(after(...CALLING, recovery('c0', 'uncertain'), ...later).uncertain).toMatchObject([
      { call_id: 'c0', tool: 'bash', target: 'run c0', status: 'running', attempt: 1 },
    ]);
  });

  test('that nobody knows of makes nothing uncertain', () => {
    expect(after(...CALLING, recovery('c9', 'uncertain')).uncertain).toEqual([]);
  });

  test('remembers what it saw of files, the last time only', () => {
    const state = after(...CALLING, saw('c0', 'a', '1'), saw('c1', 'b', '1'), saw('c0', 'a', '2'));
    expect(state.file_versions).toEqual([
      { path: 'b', version: '1' },
      { path: 'a', version: '2' },
    ]);
  });
});

describe('recoveries in a row', () => {
  test.each<[number, string, EventBody[]]>([
    [1, 'one loss', [lost('c0')]],
    [1, 'one crash that took two calls', [lost('c0'), lost('c1')]],
    [2, 'a call that was lost twice', [lost('c0'), again('c0'), lost('c0')]],
    [0, 'a result that was found', [lost('c0'), result('c0', '', { recovered: true })]],
    [0, 'a result that came by itself', [lost('c0'), again('c0'), result('c0')]],
    [0, 'an answer', [lost('c0'), recovery('c0', 'unknown'), called(10, 2), replied('done')]],
    [
      1,
      'another reply with calls',
      [lost('c0'), recovery('c0', 'unknown'), called(10, 2), replied('', asked('c2'))],
    ],
  ])('are %i after %s', (count, _, bodies) => {
    expect(runAfter(...CALLING, ...bodies).recoveries).toBe(count);
  });
});

describe('a host that does not answer', () => {
  const silent: EventBody = { type: 'host_unreachable', host: 'h' };

  test.each<[boolean, string, EventBody]>([
    [false, 'a loaded project', loaded],
    [false, 'a result', result('c0')],
    [false, 'a look at a call', recovery('c0', 'unknown')],
    [false, 'a missing workspace', { type: 'workspace_missing', workspace: { host: 'h', path: '/w' } }],
    [
      false,
      'another workspace',
      { type: 'workspace_rebound', workspace: { host: 'i', path: '/w' }, by: 'a' },
    ],
    [true, 'a lost call', recovery('c0', 'uncertain')],
    [true, 'a message', message('m2')],
  ])('is unreachable (%s) after %s', (unreachable, _, event) => {
    expect(after(...CALLING, silent, event).host_unreachable).toBe(unreachable);
  });
});

test('settings, title, workspace and status change by their events alone', () => {
  const state = after(
    { type: 'session_renamed', title: 'other' },
    { type: 'settings_changed', settings: { ...SETTINGS, model: 'n' } },
    { type: 'workspace_rebound', workspace: { host: 'i', path: '/v' }, by: 'ada' },
    { type: 'session_completed' },
  );
  expect(state).toMatchObject({
    title: 'other',
    settings: { ...SETTINGS, model: 'n' },
    workspace: { host: 'i', path: '/v' },
    status: 'completed',
  });
  expect(after({ type: 'session_archived' }).status).toBe('archived');
  expect(after({ type: 'session_archived' }, { type: 'session_reopened' }).status).toBe('active');
});

describe('what is kept is bounded, and the oldest leaves first', () => {
  test('message ids and call ids', () => {
    const messages = after(...many(MESSAGE_IDS_KEPT + 2, (index) => message(`m${index}`))).message_ids;
    expect([messages.length, messages[0], messages.at(-1)]).toEqual([
      MESSAGE_IDS_KEPT,
      'm2',
      `m${MESSAGE_IDS_KEPT + 1}`,
    ]);
    const calls = after(started(), ...many(CALL_IDS_KEPT + 2, (index) => accepted(`c${index}`))).call_ids;
    expect([calls.length, calls[0], calls.at(-1)]).toEqual([CALL_IDS_KEPT, 'c2', `c${CALL_IDS_KEPT + 1}`]);
  });

  test('runs', () => {
    const { runs, run_count } = after(...many(RUNS_KEPT + 2, () => [started(), finished()]).flat());
    expect(runs).toHaveLength(RUNS_KEPT);
    expect(runs[0]?.run_id).toBe('k3v9x2m7q4ta.r3');
    expect(run_count).toBe(RUNS_KEPT + 2);
  });

  test('file versions', () => {
    const seen = many(FILE_VERSIONS_KEPT + 2, (index) =>
      result('c0', '', { versions: [{ path: `f${index}`, version: null }] }),
    );
    const { file_versions } = after(...CALLING, ...seen);
    expect(file_versions).toHaveLength(FILE_VERSIONS_KEPT);
    expect(file_versions[0]?.path).toBe('f2');
  });

  test('file versions of long paths', () => {
    const long = FILE_VERSIONS_PATHS_MAX_CHARS / 4;
    const seen = many(6, (index) =>
      result('c0', '', { versions: [{ path: String(index).padEnd(long, 'x'), version: null }] }),
    );
    const { file_versions } = after(...CALLING, ...seen);
    expect(file_versions.map(({ path }) => path[0])).toEqual(['2', '3', '4', '5']);
  });

  test('uncertain operations', () => {
    const lost = many(UNCERTAIN_KEPT + 2, (index) => [
      accepted(`u${index}`),
      recovery(`u${index}`, 'unknown'),
    ]);
    const { uncertain } = after(started(), ...lost.flat());
    expect(uncertain).toHaveLength(UNCERTAIN_KEPT);
    expect(uncertain[0]?.call_id).toBe('u2');
  });

  test('so that a state with all of it still fits what Temporal carries', () => {
    const evidence = '€'.repeat(EVIDENCE_MAX_BYTES / 3);
    const state = after(
      ...many(RUNS_KEPT, () => [started(), finished()]).flat(),
      started(),
      ...many(MESSAGE_IDS_KEPT, (index) => message(longId('m', index))),
      ...many(CALL_IDS_KEPT, (index) => accepted(longId('c', index))),
      ...many(FILE_VERSIONS_KEPT, (index) => saw('c0', longId('path', index), '0'.repeat(64))),
      ...many(UNCERTAIN_KEPT, (index) => recovery(longId('c', index), 'unknown', { evidence })),
    );
    const goal = {
      type: 'goal_set' as const,
      objective: '€'.repeat(GOAL_OBJECTIVE_MAX_CHARS),
      budget: null,
      by: 'u',
    };
    const seen = many(GOAL_SEEN_KEPT, (index) => `file ${index}aaaaaa`);
    const steps = [{ step: 'x'.repeat(PLAN_MAX_BYTES), status: 'pending' as const }];
    const task = after(goal, { type: 'plan_changed', steps });
    const carried = { ...state, queue: [], run: null, goal: { ...task.goal, seen }, plan: task.plan };
    const bytes = Buffer.byteLength(JSON.stringify(carried));
    expect(bytes + CARRIED_EVENTS_MAX_BYTES).toBeLessThan(PAYLOAD_MAX_BYTES);
  });
});
