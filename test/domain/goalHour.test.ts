/** What a goal costs while it waits: an hour and a night by the clock, each in a moment. */
import { expect, test } from 'vitest';
import { GoalSession, goalIs, writes, type Answer } from './support/goalSession.ts';

const HOUR = 3_600;

const bash = (command: string): Answer => ({ calls: [{ tool: 'bash', args: { command } }] });

type Model = (call: number, session: GoalSession) => Answer;

const answers: Model = () => ({ text: 'I am still waiting.' });
const waits: Model = () => goalIs('active', 'waiting for the build', 60);
const waitsBriefly: Model = () => goalIs('active', 'waiting for the build', 0);
const newNotes: Model = (call) => goalIs('active', `looked ${call} times`, 10);
const newNotesThenText: Model = (call) =>
  call % 2 === 0 ? goalIs('active', `looked ${call} times`) : { text: 'Later.' };
/** Looks with a command, then says how it stands; every run anew. */
const pollsThenWaits: Model = (call) =>
  call % 2 === 0 ? bash('curl ci/status') : goalIs('active', `looked ${call} times`, 60);
const polls: Model = () => bash('curl ci/status');
const pollsByTurns: Model = (call) => bash(call % 2 === 0 ? 'curl ci/status' : 'git fetch');
const newPlans: Model = (call) =>
  call % 2 === 0
    ? { calls: [{ tool: 'update_plan', args: { steps: [{ step: `look ${call}`, status: 'pending' }] } }] }
    : { text: 'Planned.' };
const toAndFro: Model = (call) => (call % 2 === 0 ? writes(`v${call % 4}`) : { text: 'Written.' });
const sameFile: Model = (call) => (call % 2 === 0 ? writes('v1') : { text: 'Written.' });
const failing: Model = () => ({ error: { code: 'model.unavailable', message: 'down', remedy: 'wait' } });

test.each<[string, Model]>([
  ['answers with text alone', answers],
  ['waits with update_goal', waits],
  ['waits for 0 seconds', waitsBriefly],
  ['changes its note each time and waits', newNotes],
  ['changes its note each time and answers', newNotesThenText],
  ['polls with bash and then waits', pollsThenWaits],
  ['polls with bash and never says so', polls],
  ['writes the same bytes again and again', sameFile],
  ['can not be reached', failing],
])('a model that %s is called at most 10 times in an hour', (_, model) => {
  const session = new GoalSession(model).play(HOUR);
  expect(session.calls.length).toBeGreaterThan(0);
  expect(session.calls.length).toBeLessThanOrEqual(10);
});

test.each<[string, Model, number]>([
  ['polls with two commands by turns', pollsByTurns, 25],
  ['changes its plan each time', newPlans, 18],
  ['writes two versions of a file to and fro', toAndFro, 16],
])('a model that %s does not spin either', (_, model, most) => {
  expect(new GoalSession(model).play(HOUR).calls.length).toBeLessThanOrEqual(most);
});

test('waiting costs one model call at each step of the back-off: after 3, 12 and then every 15 minutes', () => {
  const session = new GoalSession(newNotes).play(2 * HOUR);
  const minutes = session.calls.map((seconds) => Math.round(seconds / 60));
  expect(minutes).toEqual([0, 3, 15, 30, 45, 60, 75, 90, 105]);
});

test('a wait is at least as long as the model asked for, and never shorter than the back-off', () => {
  const long = new GoalSession((call) => goalIs('active', `look ${call}`, 900)).play(HOUR);
  expect(long.calls.map((seconds) => Math.round(seconds / 60))).toEqual([0, 15, 30, 45]);
  const short = new GoalSession((call) => goalIs('active', `look ${call}`, 1)).play(600);
  expect(short.calls.map((seconds) => Math.round(seconds / 60))).toEqual([0, 3]);
});

test('a goal whose model changes nothing at all is blocked after three runs, and costs nothing from then on', () => {
  for (const model of [answers, waits, polls, sameFile]) {
    const session = new GoalSession(model).play(12 * HOUR);
    expect(session.goal).toMatchObject({ status: 'blocked', next_run_at: null });
    expect(session.goal.note).toMatch(/^3 runs in a row changed no file, no plan and no note/);
    // A first note, command or file is progress, once.
    expect(session.state.run_count).toBe(model === answers ? 3 : 4);
  }
});

test('a goal that waits all night for something outside, and says what it saw, is still active in the morning', () => {
  const session = new GoalSession(newNotes).play(10 * HOUR);
  expect(session.goal.status).toBe('active');
  expect(session.calls.length).toBeLessThanOrEqual(42);
});

test('a service that is down all night leaves the goal active, and it goes on when the service is back', () => {
  const session = new GoalSession((call, self) =>
    (self.calls.at(-1) ?? 0) < 9 * HOUR ? failing(call, self) : goalIs('complete', 'done'),
  ).play(10 * HOUR);
  expect(session.goal).toMatchObject({ status: 'complete', stalled_runs: 0 });
});

test('a run that gets on is followed by the next one at once', () => {
  const session = new GoalSession((call) => (call % 2 === 0 ? writes(`v${call}`) : { text: 'More to do.' }));
  session.play(60);
  expect(session.state.run_count).toBeGreaterThan(20);
  expect(session.goal).toMatchObject({ status: 'active', idle_runs: 0, stalled_runs: 0 });
});
