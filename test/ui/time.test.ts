import { expect, test } from 'vitest';
import { ago, duration } from '../../src/ui/time.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');

test.each([
  ['2026-03-01T12:00:00.000Z', 'now'],
  ['2026-03-01T12:30:00.000Z', 'now'],
  ['2026-03-01T11:59:00.000Z', '1m ago'],
  ['2026-03-01T09:30:00.000Z', '2h ago'],
  ['2026-02-20T12:00:00.000Z', '9d ago'],
  ['2025-12-31T12:00:00.000Z', '2025-12-31'],
  ['', ''],
])('%s is %s', (iso, words) => {
  expect(ago(iso, now)).toBe(words);
});

test.each([
  [-5_000, '0.0s'],
  [940, '0.9s'],
  [12_000, '12s'],
  [65_000, '1m 05s'],
  [7_260_000, '2h 01m'],
])('%i ms is %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});
