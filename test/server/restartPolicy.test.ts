import { expect, test } from 'vitest';
import { afterDeath, NO_DEATHS, type Deaths } from '../../src/server/restartPolicy.ts';

function delaysOf(times: number): { delays: number[]; crashedAt: number } {
  let deaths: Deaths = NO_DEATHS;
  let now = 1_000_000;
  let crashedAt = 0;
  const delays: number[] = [];
  for (let death = 1; death <= times; death++) {
    const restart = afterDeath(deaths, now, undefined);
    if (restart.deaths.crashed && crashedAt === 0) crashedAt = death;
    delays.push(restart.delayMs);
    deaths = restart.deaths;
    now += restart.delayMs;
  }
  return { delays, crashedAt };
}

test('the first restart is at once, later ones wait ever longer, up to half a minute', () => {
  expect(delaysOf(9).delays).toEqual([0, 250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000]);
});

test('ten deaths within two minutes without having been ready are a crash, which is tried once a minute', () => {
  const { delays, crashedAt } = delaysOf(11);
  expect(crashedAt).toBe(10);
  expect(delays.slice(9)).toEqual([60_000, 60_000]);
});

test('a process that was ready each time waits a second at most and is never called crashed', () => {
  let deaths = NO_DEATHS;
  for (let death = 1; death <= 30; death++)
    deaths = afterDeath(deaths, death * 1000, death * 1000 - 500).deaths;
  expect(deaths).toEqual({ inRow: 30, neverReady: [], crashed: false });
  expect(afterDeath(deaths, 40_000, 39_000).delayMs).toBe(1_000);
});

test('a death soon after ready counts with those before it', () => {
  const first = afterDeath(NO_DEATHS, 1000, 900);
  expect(afterDeath(first.deaths, 2000, 1900).delayMs).toBe(250);
  expect(afterDeath(first.deaths, 20_000, 1900).delayMs).toBe(0);
});
