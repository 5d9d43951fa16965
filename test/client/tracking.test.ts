import { expect, test } from 'vitest';
import type { KnownFacts } from '../../src/client/facts.ts';
import { outcomeOfSession } from '../../src/client/outcome.ts';
import { RunTracker } from '../../src/client/runTracker.ts';
import { SessionView } from '../../src/client/sessionView.ts';
import type { EventBody, SessionEvent } from '../../src/domain/event.ts';
import type { Goal } from '../../src/domain/goal.ts';
import { NO_USAGE } from '../../src/domain/model.ts';
import type { RunSummary } from '../../src/domain/session.ts';

let seq = 0;
const event = (body: EventBody, run_id?: string): SessionEvent => ({
  seq: ++seq,
  at: '2026-03-01T12:00:00.000Z',
  ...(run_id && { run_id }),
  ...body,
});
const message = (message_id: string, delivery: 'queue' | 'steer' = 'queue', run_id?: string): SessionEvent =>
  event({ type: 'user_message', message_id, text: 't', delivery }, run_id);
const started = (run_id: string, ...message_ids: string[]): SessionEvent =>
  event({ type: 'run_started', trigger: 'message', message_ids }, run_id);
const says = (run_id: string, text: string, calls = 0): SessionEvent =>
  event(
    {
      type: 'assistant_message',
      operation_id: 'o',
      text,
      reasoning: null,
      tool_calls: Array.from({ length: calls }, () => ({ call_id: 'c', tool: 'bash', arguments: '{}' })),
      finish_reason: 'stop',
      usage: null,
      context_digest: '',
    },
    run_id,
  );
const call = (run_id: string): SessionEvent =>
  event(
    {
      type: 'tool_call',
      call_id: 'c',
      operation_id: 'o1',
      tool: 'bash',
      args: {},
      effect: 'side_effect',
      target: 'x',
    },
    run_id,
  );
const asks = (run_id: string): SessionEvent => event({ type: 'approval_requested', call_id: 'c' }, run_id);
const decided = (run_id: string): SessionEvent =>
  event({ type: 'approval_decided', call_id: 'c', by: 'u', decision: 'approve', reason: '' }, run_id);
const interrupted = (run_id: string): SessionEvent => event({ type: 'interrupt_requested', by: 'u' }, run_id);
const finished = (
  run_id: string,
  status: 'success' | 'failed' | 'interrupted',
  code = 'internal',
): SessionEvent =>
  event(
    {
      type: 'run_finished',
      status,
      error: status === 'failed' ? { code, message: 'm', remedy: 'r' } : null,
      usage: NO_USAGE,
    },
    run_id,
  );

test("a message's run is told apart from the runs before and after it", () => {
  const run = new RunTracker('m2');
  const events = [
    started('r1', 'm1'),
    message('m2', 'queue', 'r1'),
    says('r1', 'other answer'),
    finished('r1', 'failed'),
    started('r2', 'm2'),
    says('r2', 'working', 1),
    says('r2', 'answer'),
    finished('r2', 'success'),
    started('r3', 'm3'),
    says('r3', 'later'),
  ];
  expect(events.map((one) => run.take(one))).toEqual([
    false,
    true,
    false,
    false,
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(run.answer).toBe('answer');
  expect(run.outcome).toMatchObject({ status: 'success', exit_code: 0, run_id: 'r2' });
});

test('a steering message is answered by the run that it enters, or by the next one', () => {
  const entered = new RunTracker('s');
  for (const one of [message('s', 'steer', 'r1'), says('r1', 'steered')]) entered.take(one);
  expect(entered).toMatchObject({ run_id: 'r1', answer: 'steered' });
  const late = new RunTracker('s');
  for (const one of [message('s', 'steer', 'r1'), finished('r1', 'success'), started('r2', 's')])
    late.take(one);
  expect(late).toMatchObject({ stage: 'running', run_id: 'r2', outcome: null });
});

test('calls wait for a person until they are decided or the run ends', () => {
  const run = new RunTracker('m');
  for (const one of [message('m'), started('r', 'm'), call('r'), asks('r')]) run.take(one);
  expect([...run.pending.keys()]).toEqual(['c']);
  run.take(decided('r'));
  expect(run.pending.size).toBe(0);
  for (const one of [call('r'), asks('r'), interrupted('r'), finished('r', 'interrupted')]) run.take(one);
  expect(run.pending.size).toBe(0);
});

test.each([
  ['success', [finished('r', 'success')], 0],
  ['failure', [finished('r', 'failed')], 1],
  ['a workspace that is gone', [finished('r', 'failed', 'workspace.not_found')], 5],
  ["a person's interrupt", [interrupted('r'), finished('r', 'interrupted')], 6],
  ['a crash after which it waits for a person', [finished('r', 'interrupted')], 3],
])('exit code of %s', (_name, events, exit_code) => {
  const run = new RunTracker('m');
  for (const one of [message('m'), started('r', 'm'), ...events]) run.take(one);
  expect(run.outcome?.exit_code).toBe(exit_code);
});

const summary = (status: RunSummary['status'], code?: string): RunSummary => ({
  run_id: 'r',
  status,
  started_at: '',
  finished_at: null,
  error: code === undefined ? null : { code, message: '', remedy: '' },
  usage: NO_USAGE,
});
const goalThatIs = (status: Goal['status']): Goal => ({ status }) as Goal;
const uncertain = [
  { call_id: 'c', operation_id: 'o', tool: 'bash', target: '', status: 'unknown' as const, evidence: '' },
];

test.each<[string, Partial<KnownFacts>, number | undefined]>([
  ['no run', {}, 0],
  ['a run under way', { run_state: 'running', runs: [summary('running')] }, undefined],
  ['a queued message', { queued: 1, runs: [summary('success')] }, undefined],
  ['a pending approval', { run_state: 'waiting_approval', runs: [summary('running')] }, 3],
  ['success', { runs: [summary('failed', 'internal'), summary('success')] }, 0],
  ['failure', { run_state: 'failed', runs: [summary('failed', 'internal')] }, 1],
  ['a missing workspace', { run_state: 'failed', runs: [summary('failed', 'workspace.not_found')] }, 5],
  ['an interrupt', { run_state: 'interrupted', runs: [summary('interrupted')] }, 6],
  [
    'an uncertain operation that a person is to look at',
    {
      run_state: 'interrupted',
      runs: [summary('interrupted')],
      uncertain,
      settings: { model: '', api: 'chat', base_url: null, approval: 'auto', on_interrupt: 'wait' },
    },
    3,
  ],
  ['a goal that goes on by itself', { runs: [summary('success')], goal: goalThatIs('active') }, undefined],
  ['a goal that is paused', { runs: [summary('success')], goal: goalThatIs('paused') }, 0],
  ['a goal that needs a person', { runs: [summary('success')], goal: goalThatIs('blocked') }, 3],
  [
    'a goal at its budget',
    {
      run_state: 'failed',
      runs: [summary('failed', 'goal.budget_limited')],
      goal: goalThatIs('budget_limited'),
    },
    1,
  ],
  [
    'a summary that is being made',
    { context: { tokens: 0, window: 1, summary_through_seq: null, compactions: 0, compacting: true } },
    undefined,
  ],
  ['what nobody could be asked for', { partial: true }, undefined],
])('waiting, with %s', (_name, known, exit_code) => {
  const facts = {
    run_state: 'idle',
    runs: [],
    queued: 0,
    uncertain: [],
    settings: { on_interrupt: 'continue' },
    context: { compacting: false },
    ...known,
  } as unknown as KnownFacts;
  expect(outcomeOfSession(facts)?.exit_code).toBe(exit_code);
});

test('a session is idle when nothing runs and nothing is queued', () => {
  const view = new SessionView();
  const states = [
    message('m'),
    message('n'),
    started('r', 'm'),
    finished('r', 'success'),
    started('r2', 'n'),
    message('s', 'steer', 'r2'),
    finished('r2', 'success'),
  ].map((one) => {
    view.take(one);
    return view.idle;
  });
  expect(states).toEqual([false, false, false, false, false, false, true]);
});
