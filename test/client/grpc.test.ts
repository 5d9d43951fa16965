import { expect, test } from 'vitest';
import {
  GRPC,
  grpcCode,
  grpcDetails,
  isUnanswered,
  isUnavailable,
  isUnreachable,
} from '../../src/client/grpc.ts';

const error = (code: number, details: string): Error =>
  new Error('Failed to query Workflow', {
    cause: Object.assign(new Error(`${code} ${details}`), { code, details }),
  });

test.each([
  ['a refused connection', GRPC.unavailable, 'No connection established', true, true, true],
  [
    'a connection that was not made in time',
    GRPC.deadlineExceeded,
    'Deadline exceeded after 10.0s,Waiting for LB pick',
    true,
    true,
    true,
  ],
  [
    "a worker's silence",
    GRPC.deadlineExceeded,
    'Deadline exceeded after 10.0s,LB pick: 0.001s,remote_addr=127.0.0.1:1',
    false,
    false,
    true,
  ],
  [
    "a worker's silence in the server's words",
    GRPC.deadlineExceeded,
    'context deadline exceeded',
    false,
    false,
    true,
  ],
  ['a call that the server gave up', GRPC.cancelled, 'Call cancelled', false, true, true],
  ['a query that is buffered already', GRPC.resourceExhausted, 'query buffer is full', false, true, true],
  ['a workflow whose first task is to come', GRPC.failedPrecondition, 'not ready', false, false, true],
  ['an unknown workflow', GRPC.notFound, 'not found', false, false, false],
  ['a wrong argument', GRPC.invalidArgument, 'bad', false, false, false],
])('%s', (_name, code, details, unreachable, unavailable, unanswered) => {
  const failed = error(code, details);
  expect([isUnreachable(failed), isUnavailable(failed), isUnanswered(failed)]).toEqual([
    unreachable,
    unavailable,
    unanswered,
  ]);
  expect([grpcCode(failed), grpcDetails(failed)]).toEqual([code, details]);
});

test('an error without gRPC behind it has no code', () => {
  expect([grpcCode(new Error('x')), grpcCode('x'), isUnanswered(new Error('x'))]).toEqual([
    undefined,
    undefined,
    false,
  ]);
});
