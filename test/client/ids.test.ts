import { expect, test } from 'vitest';
import { isSessionId } from '../../src/domain/ids.ts';
import { newSessionId, sessionIdForMessage } from '../../src/client/ids.ts';

test('ids have their form and use the whole alphabet evenly', () => {
  const ids = Array.from({ length: 2_000 }, newSessionId);
  expect(ids.every(isSessionId)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  const counts = new Map<string, number>();
  for (const letter of ids.join('')) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  const mean = (ids.length * 12) / 36;
  expect(counts.size).toBe(36);
  for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(mean / 3);
});

test('one message of one user in one folder makes one session', () => {
  const parts = { message_id: 'm', user_id: 'u', path: '/p' };
  const id = sessionIdForMessage(parts);
  expect(isSessionId(id)).toBe(true);
  expect(sessionIdForMessage({ ...parts })).toBe(id);
  expect(sessionIdForMessage({ ...parts, path: '/q' })).not.toBe(id);
  expect(sessionIdForMessage({ ...parts, user_id: 'v' })).not.toBe(id);
  expect(sessionIdForMessage({ ...parts, message_id: 'n' })).not.toBe(id);
});
