import { expect, test } from 'vitest';
import { costLines } from '../../src/demo/cost.ts';
import { TEST_COMMAND } from '../../src/demo/demoScript.ts';
import type { EventBody, SessionEvent } from '../../src/domain/event.ts';

const reply: EventBody = {
  type: 'assistant_message',
  operation_id: 'o',
  text: '',
  reasoning: null,
  tool_calls: [],
  finish_reason: 'stop',
  usage: null,
  context_digest: '',
};
const asked: EventBody = {
  type: 'tool_call',
  call_id: 'c',
  operation_id: 'o',
  tool: 'bash',
  args: {},
  effect: 'side_effect',
  target: TEST_COMMAND,
};
const result: EventBody = {
  type: 'tool_result',
  call_id: 'c',
  operation_id: 'o',
  status: 'success',
  output: '',
  recovered: true,
};
const events = [reply, asked, result, asked, reply].map(
  (body, index): SessionEvent => ({
    ...body,
    seq: index + 1,
    at: '2026-03-01T00:00:00.000Z',
  }),
);

test('a crash that cost nothing is told as that', () => {
  expect(costLines({ events, requests: 2, testRuns: 2 })).toEqual([
    '  model calls      2 requests for 2 replies: none was made twice',
    '  the test         was run 2 times, as often as the model asked: the kill repeated nothing',
    '  results          1 came from a command that outlived its worker',
  ]);
});

test('what was made or run once too often is told as well', () => {
  const [calls, runs] = costLines({ events, requests: 3, testRuns: 3 });
  expect(calls).toContain('3 requests for 2 replies: 1 more than replies');
  expect(runs).toContain('was run 3 times, although the model asked 2 times');
});
