import { describe, expect, test } from 'vitest';
import { readWords } from '../../src/cli/chat/words.ts';

describe('what is typed', () => {
  test.each([
    ['  ', { kind: 'nothing' }],
    ['do it', { kind: 'message', text: 'do it', delivery: 'queue' }],
    ['/steer left', { kind: 'message', text: 'left', delivery: 'steer' }],
    ['/usr/bin is a folder', { kind: 'message', text: '/usr/bin is a folder', delivery: 'queue' }],
    ['/compact', { kind: 'compact' }],
    ['/goal', { kind: 'goal', words: [] }],
    ['/goal pause', { kind: 'goal', words: ['pause'] }],
    ['/goal set all tests\n  are green ', { kind: 'goal', words: ['set', 'all tests\n  are green'] }],
    ['/goal budget none', { kind: 'goal', words: ['budget', 'none'] }],
  ])('%j', (text, words) => {
    expect(readWords(text, false)).toEqual(words);
  });

  test.each(['/steer', '/goal set -', '/nothing'])('%j is not understood, and says why', (text) => {
    expect(readWords(text, false)).toMatchObject({ kind: 'unknown', message: expect.any(String) });
  });

  test.each([
    ['y', { kind: 'decide', decision: 'approve', reason: '' }],
    ['NO', { kind: 'decide', decision: 'deny', reason: '' }],
    ['n it is prod', { kind: 'decide', decision: 'deny', reason: 'it is prod' }],
    ['/interrupt', { kind: 'interrupt' }],
  ])('while a call waits for approval: %j', (text, words) => {
    expect(readWords(text, true)).toEqual(words);
  });

  test('while a call waits for approval a message is no answer', () => {
    expect(readWords('maybe', true).kind).toBe('unknown');
  });
});
