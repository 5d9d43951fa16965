import { expect, test } from 'vitest';
import { chaos } from '../../chaos/chaos.ts';

/** Kills that end in a worker's start take a second or two each; then all has to come to its end. */
const CHAOS_TEST_MS = 150_000;

test('a dozen kills at random and planted moments: nothing lost, doubled, falsely told, left open or paid twice', {
  timeout: CHAOS_TEST_MS,
}, async () => {
  const lines: string[] = [];
  const options = { kills: 12, seed: 'test 198', sessions: 3, verbose: false };
  const { violations, report, kills } = await chaos(options, (line) => lines.push(line));
  expect(violations, `${report}\n${lines.join('\n')}`).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(12);
  expect(report).toMatch(/^effects doubled +0$/m);
});
