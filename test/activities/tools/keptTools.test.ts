import { expect, test } from 'vitest';
import { acceptCall, toolDefinitions, TOOLS } from '../../../src/activities/tools/registry.ts';
import {
  GOAL_NOTE_MAX_CHARS,
  GOAL_WAIT_MAX_SECONDS,
  PLAN_MAX_BYTES,
  PLAN_STEP_MAX_CHARS,
  PLAN_STEPS_MAX,
} from '../../../src/domain/limits.ts';

const accept = (tool: string, args: unknown) =>
  acceptCall({ call_id: 'c1', tool, arguments: JSON.stringify(args) }, 's.r1.s1.1');
const steps = (count: number, step = 'x') =>
  Array.from({ length: count }, () => ({ step, status: 'pending' }));

test('the tools that the session keeps are offered to the model, and no activity runs them', () => {
  const offered = toolDefinitions().map(({ name }) => name);
  for (const name of ['update_plan', 'update_goal']) {
    expect(offered).toContain(name);
    expect(TOOLS.has(name)).toBe(false);
  }
});

test('a plan is taken word for word, and named by how far it is', () => {
  const plan = [
    { step: ' “read”\n ', status: 'completed' },
    { step: 'mend', status: 'in_progress' },
  ];
  expect(accept('update_plan', { steps: plan })).toMatchObject({
    args: { steps: plan },
    effect: 'read',
    target: '1 of 2 steps done, now: mend',
  });
  expect(accept('update_plan', { steps: [] })).toMatchObject({ args: { steps: [] } });
});

test.each([
  ['too many steps', 'update_plan', { steps: steps(PLAN_STEPS_MAX + 1) }, /at most 100 steps/],
  [
    'a step that is too long',
    'update_plan',
    { steps: steps(1, 'x'.repeat(PLAN_STEP_MAX_CHARS + 1)) },
    /1000/,
  ],
  [
    'a plan that is too large',
    'update_plan',
    { steps: steps(40, '€'.repeat(900)) },
    new RegExp(`${PLAN_MAX_BYTES}`),
  ],
  ['a blank step', 'update_plan', { steps: steps(1, ' ') }, /only blanks/],
  ['a status that there is not', 'update_plan', { steps: [{ step: 'x', status: 'done' }] }, /status/],
  [
    'a note that is too long',
    'update_goal',
    { status: 'active', note: 'x'.repeat(GOAL_NOTE_MAX_CHARS + 1) },
    /2000/,
  ],
  [
    'a wait that is too long',
    'update_goal',
    { status: 'active', note: '', wait_seconds: GOAL_WAIT_MAX_SECONDS + 1 },
    /900/,
  ],
  ['a goal that is paused by the model', 'update_goal', { status: 'paused', note: '' }, /status/],
  ['a budget', 'update_goal', { status: 'active', note: '', budget: 5 }, /Unrecognized key: "budget"/],
])('%s: the call is refused with what is allowed', (_, tool, args, problem) => {
  expect(accept(tool, args)).toMatchObject({ args: null, problem: expect.stringMatching(problem) });
});
