import { expect, test } from 'vitest';
import type { SessionEvent } from '../../src/domain/event.ts';
import type { Goal, PlanStep } from '../../src/domain/goal.ts';
import { eventLine } from '../../src/ui/eventLine.ts';
import { eventText } from '../../src/ui/eventText.ts';
import { goalText, taskLines } from '../../src/ui/goalLines.ts';
import { stylesFor } from '../../src/ui/style.ts';
import { widthOf } from '../../src/ui/text.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const plain = stylesFor(false);
const goal: Goal = {
  objective: 'make it work\nand keep it so',
  status: 'active',
  budget: 50_000,
  tokens_used: 1_234,
  seconds_used: 185,
  note: 'CI runs\u001B[31m',
  created_at: '2026-03-01T10:00:00.000Z',
  updated_at: '2026-03-01T11:00:00.000Z',
  idle_runs: 1,
  stalled_runs: 0,
  next_run_at: '2026-03-01T12:12:00.000Z',
};
const plan: PlanStep[] = [
  { step: 'read', status: 'completed' },
  { step: 'mend\nall', status: 'in_progress' },
];

test('a goal is shown whole, with what it has used and when it goes on, and no control characters', () => {
  const lines = goalText({ goal, plan }, plain, NOW);
  expect(lines.join('\n')).not.toContain('\u001B');
  expect(lines).toEqual([
    'active, 1,234 of 50,000 tokens, 3m 05s, next run in 12m 00s',
    'make it work\nand keep it so',
    expect.stringMatching(/^note: CI runs/),
    '1 of 2 steps done',
  ]);
  expect(goalText({ goal: null, plan: null }, plain, NOW)).toEqual(['no goal']);
});

test('a goal that rests no longer, or has no budget, says nothing of these', () => {
  const late = {
    ...goal,
    budget: null,
    status: 'usage_limited' as const,
    next_run_at: '2026-03-01T11:00:00.000Z',
  };
  expect(goalText({ goal: late, plan: null }, plain, NOW)[0]).toBe('usage limited, 1,234 tokens, 3m 05s');
  expect(goalText({ goal: { ...late, seconds_used: 7 }, plan: null }, plain, NOW)[0]).toMatch(/, 7s$/);
});

test('`show` has a line for each step, and nothing for facts of before there were goals', () => {
  expect(taskLines({ goal, plan }, NOW)).toEqual([
    'goal       active, 1,234 of 50,000 tokens, 3m 05s, next run in 12m 00s',
    '  make it work and keep it so',
    expect.stringMatching(/^ {2}note: CI runs/),
    'plan       1 of 2 steps done',
    '  [x] read',
    '  [~] mend all',
  ]);
  expect(taskLines({}, NOW)).toEqual([]);
});

const at = '2026-03-01T12:00:05.000Z';

test.each<[SessionEvent, string | undefined, string]>([
  [
    { seq: 1, at, type: 'run_started', trigger: 'goal', message_ids: [], prompt: 'Goal: x' },
    '- goes on with the goal',
    'run_started',
  ],
  [
    { seq: 1, at, type: 'goal_set', objective: 'ship\nit', budget: 50_000, by: 'ada' },
    '- goal (budget 50,000 tokens): ship it',
    'goal_set ship it',
  ],
  [
    { seq: 1, at, type: 'goal_changed', by: 'holdfast', status: 'budget_limited', note: 'used up' },
    '- goal: budget limited, used up',
    'goal_changed used up | budget_limited',
  ],
  [{ seq: 1, at, type: 'goal_changed', by: 'ada', budget: null }, '- goal: budget none', 'goal_changed'],
  // The line of its call says so already.
  [
    { seq: 1, at, type: 'goal_changed', by: 'model', status: 'complete', note: 'done' },
    undefined,
    'goal_changed done | complete',
  ],
  [{ seq: 1, at, type: 'goal_cleared', by: 'ada' }, '- goal cleared', 'goal_cleared'],
  [{ seq: 1, at, type: 'plan_changed', steps: plan }, undefined, 'plan_changed 2 steps'],
])('%j on one line', (event, line, text) => {
  expect(eventLine(event, { columns: 100, styles: plain, call: () => undefined })).toBe(line);
  expect(eventText(event, 100, plain).slice('   1 12:00:05 '.length).trim()).toBe(text);
  for (const columns of [15, 30]) {
    const narrow = eventLine(event, { columns, styles: plain, call: () => undefined }) ?? '';
    expect(widthOf(narrow)).toBeLessThanOrEqual(columns);
  }
});
