import { expect, test } from 'vitest';
import { plannedStrikes, POINTS, type Strike } from '../../chaos/kill/plan.ts';
import { messagesOf } from '../../chaos/load/talk.ts';
import { stepsFor } from '../../chaos/load/tasks.ts';

const around = { session: 1, message: 2, effectsLog: '/effects', effectsUrl: 'http://127.0.0.1:1' };

function firstStrikes(seed: string): Strike[] {
  const strikes = plannedStrikes(seed);
  return Array.from({ length: 2_000 }, () => strikes.next().value);
}

function shownSteps(seed: string): string {
  return JSON.stringify(stepsFor(seed, around));
}

test('the same seed gives the same strikes, the same messages and the same calls; another gives others', () => {
  expect(firstStrikes('a')).toEqual(firstStrikes('a'));
  expect(firstStrikes('a')).not.toEqual(firstStrikes('b'));
  expect(messagesOf('a', 3)).toEqual(messagesOf('a', 3));
  expect(shownSteps('a')).toBe(shownSteps('a'));
  expect(new Set(['a', 'b', 'c', 'd'].map(shownSteps)).size).toBeGreaterThan(1);
});

test('every target, every planted point and both ways to strike come up', () => {
  const strikes = firstStrikes('1');
  expect(new Set(strikes.map(({ point }) => point))).toEqual(new Set([undefined, ...POINTS]));
  expect(new Set(strikes.map(({ how, target }) => `${how} ${target}`))).toEqual(
    new Set([
      ...['worker', 'server', 'supervisor', 'runner', 'worker and server', 'everything'].map(
        (target) => `kill ${target}`,
      ),
      ...['worker', 'server', 'runner'].map((target) => `freeze ${target}`),
    ]),
  );
});
