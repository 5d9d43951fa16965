import { expect, test } from 'vitest';
import {
  NEVER_BEGUN,
  NO_RESULT_RECORDED,
  NO_RESULT_YET,
  notRunResult,
  recoveryBlock,
  settledResult,
  unknownResult,
} from '../../src/domain/evidence.ts';
import type { EventOf } from '../../src/domain/event.ts';
import { log, recovery } from './support/events.ts';

function recovered(...args: Parameters<typeof recovery>): EventOf<'tool_recovery'> {
  return log(recovery(...args))[0] as EventOf<'tool_recovery'>;
}

// The model reads these words, and the system prompt speaks of them: a change is a change of behaviour.
test('the words for a call without a result are exactly these', () => {
  expect(unknownResult('It began at noon.')).toBe(
    'UNKNOWN: this call was begun and its result was lost. It began at noon. Nothing was repeated. Check what is true now before you rely on it or do it again.',
  );
  expect(notRunResult('Its gate was closed.')).toBe('Not run. Its gate was closed.');
  expect(NEVER_BEGUN).toBe('Not run: the run ended before this call began.');
  expect(NO_RESULT_YET).toBe('No result yet: this call has not ended.');
  expect(NO_RESULT_RECORDED).toBe(
    'UNKNOWN: no result of this call is recorded, so it may or may not have had its effect. Check what is true now before you rely on it.',
  );
});

test.each([
  ['completed', 'I looked.', 'The result of this call was lost. The user says that it was done. I looked.'],
  ['not_run', 'I looked.', 'The result of this call was lost. The user says that it was not done. I looked.'],
  ['not_run', '', 'The result of this call was lost. The user says that it was not done.'],
] as const)('a call that a person settled as %s with %j says so', (status, evidence, text) => {
  expect(settledResult(recovered('c0', status, { by: 'user', evidence }))).toBe(text);
});

test('nothing unknown makes no block', () => {
  expect(recoveryBlock([])).toBeUndefined();
});

test('the block names each call, its target, what is known, and asks to check', () => {
  const operations = [
    { recovery: recovered('c0', 'unknown'), tool: 'bash', target: 'make' },
    { recovery: recovered('c1', 'uncertain'), tool: 'write_file', target: 'a.txt' },
    { recovery: recovered('c2', 'not_run', { by: 'user' }), tool: 'bash', target: 'ls' },
  ];
  expect(recoveryBlock(operations)).toBe(
    [
      '<recovery>',
      'The agent was interrupted by a crash and has been restarted. About these calls, this is all that is known:',
      '- call c0 (bash: make): begun, its end is unknown. Evidence of c0.',
      '- call c1 (write_file: a.txt): begun, no result. Evidence of c1.',
      '- call c2 (bash: ls): the user says that it was not done. Evidence of c2.',
      'Check the real state before you rely on any of them. Do not assume that they were done, nor that they were not.',
      '</recovery>',
    ].join('\n'),
  );
});

test.each(['uncertain', 'running', 'completed', 'not_run', 'unknown'] as const)(
  'the block has words for the status %s',
  (status) => {
    const block = recoveryBlock([{ recovery: recovered('c0', status), tool: 't', target: 'x' }]);
    expect(block).toMatch(/^- call c0 \(t: x\): [a-z ,]+\. Evidence of c0\.$/m);
  },
);
