import { expect, test } from 'vitest';
import { describeSession, runStateName } from '../../src/domain/facts.ts';
import type { EventBody } from '../../src/domain/event.ts';
import type { SessionState } from '../../src/domain/session.ts';
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

function after(...bodies: EventBody[]): SessionState {
  return stateOf(log(created(), message('m1'), ...bodies));
}

const CALLING = [
  started('m1'),
  loaded,
  called(4),
  replied('', asked('c0', 'c1')),
  accepted('c0'),
  accepted('c1'),
];

test('the facts of a session at work name what is under way, what waits and what is unknown', () => {
  const state = after(
    ...CALLING,
    recovery('c0', 'unknown'),
    { type: 'approval_requested', call_id: 'c1' },
    message('m2'),
  );
  const call = { call_id: 'c1', operation_id: 'op_c1', tool: 'bash', target: 'run c1' };
  expect(describeSession(state)).toMatchObject({
    session_id: 'k3v9x2m7q4ta',
    user_id: 'ada',
    status: 'active',
    run_state: 'waiting_approval',
    workspace: { host: 'h', path: '/w' },
    settings: SETTINGS,
    created_at: timeOf(1),
    updated_at: timeOf(11),
    runs: [{ run_id: RUN, status: 'running', finished_at: null }],
    run_count: 1,
    queued: 1,
    uncertain: [
      {
        call_id: 'c0',
        operation_id: 'op_c0',
        tool: 'bash',
        target: 'run c0',
        status: 'unknown',
        evidence: 'Evidence of c0.',
      },
    ],
    pending_approvals: [call],
    current_calls: [{ ...call, status: 'awaiting_approval' }],
    last_seq: 11,
  });
});

test('the facts show nothing of the machine: no attempts, no arguments', () => {
  const text = JSON.stringify(describeSession(after(...CALLING, recovery('c0', 'uncertain'))));
  expect(text).not.toMatch(/attempt|approved|args/);
});

test.each<[string, EventBody[]]>([
  ['idle', []],
  ['running', [started('m1')]],
  ['host_unreachable', [started('m1'), { type: 'host_unreachable', host: 'h' }]],
  ['waiting_approval', [...CALLING, { type: 'approval_requested', call_id: 'c0' }]],
  [
    'waiting_approval',
    [...CALLING, { type: 'approval_requested', call_id: 'c0' }, { type: 'host_unreachable', host: 'h' }],
  ],
  ['running', [...CALLING, result('c0')]],
  ['idle', [started('m1'), finished('success')]],
  ['failed', [started('m1'), finished('failed')]],
  ['interrupted', [started('m1'), finished('interrupted')]],
])('a session is %s', (name, bodies) => {
  expect(runStateName(after(...bodies))).toBe(name);
});
