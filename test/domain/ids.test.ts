import { expect, test } from 'vitest';
import { hostTaskQueue, isSessionId, operationId, runId, workflowId } from '../../src/domain/ids.ts';

test('ids are derived from each other, so that every retry, replay and reset finds the same', () => {
  expect(workflowId('k3v9x2m7q4ta')).toBe('holdfast/k3v9x2m7q4ta');
  expect(runId('k3v9x2m7q4ta', 2)).toBe('k3v9x2m7q4ta.r2');
  expect(operationId(runId('k3v9x2m7q4ta', 2), 3, 0)).toBe('k3v9x2m7q4ta.r2.s3.0');
  expect(hostTaskQueue('mac-1a2b3c')).toBe('holdfast-host-mac-1a2b3c');
});

test('an operation id is safe as a file name and as an HTTP header', () => {
  expect(operationId(runId('k3v9x2m7q4ta', 1), 1, 1)).toMatch(/^[a-z0-9][a-z0-9.]*$/);
});

test('no two operations of a session share an id', () => {
  const ids = [1, 2, 11].flatMap((run) =>
    [1, 2, 11].flatMap((step) => [0, 1, 11].map((index) => operationId(runId('s', run), step, index))),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test.each([
  ['k3v9x2m7q4ta', true],
  ['k3v9x2m7q4t', false],
  ['k3v9x2m7q4ta1', false],
  ['K3v9x2m7q4ta', false],
  ['../9x2m7q4ta', false],
  ['k3v9x2m7q4ta\n', false],
  ['', false],
])('%j as a session id: %s', (text, is) => {
  expect(isSessionId(text)).toBe(is);
});
