import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callTool, say, type ScriptedTurn } from '../../src/demo/scriptedTurns.ts';
import type { SeenRequest } from '../../src/demo/scriptedRequest.ts';
import type { SessionFacts } from '../../src/domain/facts.ts';
import { sharedWorlds } from '../support/sharedWorlds.ts';
import { all, checkLog } from '../support/world.ts';

const createWorld = sharedWorlds();

const usage = { input_tokens: 600, cached_input_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };

const isGoal = ({ lastUserText }: SeenRequest): boolean => lastUserText.startsWith('Goal: ');
const goalIs = (status: string, note: string, wait_seconds?: number): ScriptedTurn =>
  callTool('update_goal', { status, note, wait_seconds }, { usage });
const write = (path: string): ScriptedTurn =>
  callTool('write_file', { path, content: `${path}\n` }, { usage });

test('a goal that is set goes on by itself, run after run, until it is complete', async () => {
  await using world = await createWorld((request) => {
    if (!isGoal(request)) return say('hello');
    const runs = request.messages.filter(({ text }) => text.startsWith('Goal: ')).length;
    if (runs === 3) return goalIs('complete', 'a and b are there');
    return request.step === 0 ? write(runs === 1 ? 'a.txt' : 'b.txt') : say('One file more.');
  });
  const id = await world.start('hi');
  await world.wait(id);
  const set = await world.cli(['goal', id, 'set', 'write', 'a.txt', 'and b.txt']);
  expect(set).toMatchObject({ code: 0, stdout: '' });
  const waited = await world.wait(id);
  expect(waited).toMatchObject({ code: 0, stderr: expect.stringContaining('the goal: complete') });
  const { goal } = await world.json<{ goal: SessionFacts['goal'] }>('goal', id);
  expect(goal).toMatchObject({
    objective: 'write a.txt and b.txt',
    status: 'complete',
    note: 'a and b are there',
    tokens_used: expect.any(Number),
  });
  for (const file of ['a.txt', 'b.txt'])
    expect(await readFile(join(world.workspace, file), 'utf8')).toBe(`${file}\n`);
  const events = await world.events(id);
  checkLog(events);
  expect(all(events, 'run_started').map(({ trigger }) => trigger)).toEqual([
    'message',
    'goal',
    'goal',
    'goal',
  ]);
  const shown = await world.cli(['goal', id]);
  expect(shown.stdout).toMatch(/^complete, .*tokens.*\nwrite a.txt and b.txt\nnote: a and b are there\n$/);
  expect((await world.cli(['show', id])).stdout).toMatch(/goal {7}complete/);
});

test('at its budget a goal stops within one call; a budget that is too small is refused, a larger one lets it go on', async () => {
  await using world = await createWorld((request) => {
    if (!isGoal(request)) return say('hello', { usage: null });
    const files = request.messages.flatMap(({ calls }) => calls).length;
    return files < 4 ? write(`${files}.txt`) : goalIs('complete', 'four files');
  });
  const id = await world.start('hi');
  await world.wait(id);
  await world.cli(['goal', id, 'set', 'write four files', '--budget', '1000']);
  const stopped = await world.wait(id);
  expect(stopped.code).toBe(1);
  expect(stopped.stderr).toContain(`holdfast goal ${id} budget N`);
  const { goal, runs } = await world.facts(id);
  expect(goal).toMatchObject({ status: 'budget_limited', budget: 1_000, tokens_used: 1_200 });
  expect(runs.at(-1)?.error?.code).toBe('goal.budget_limited');
  for (const args of [['budget', '1200'], ['resume']]) {
    const refused = await world.cli(['goal', id, ...args]);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Expected a budget of more than the 1200 tokens .*, found 1[02]00/),
    });
  }
  const raised = await world.cli(['goal', id, 'budget', '50000']);
  expect(raised).toMatchObject({ code: 0, stderr: expect.stringContaining('the goal goes on') });
  expect((await world.wait(id)).code).toBe(0);
  expect((await world.facts(id)).goal).toMatchObject({ status: 'complete', tokens_used: 3_000 });
});

test('a goal that waits is paused, resumed and blocked; `wait` goes on only while it is active', async () => {
  let resumed = false;
  await using world = await createWorld((request) => {
    if (!isGoal(request)) return say('hello');
    return resumed ? goalIs('blocked', 'I need the key of the server') : goalIs('active', 'CI runs', 900);
  });
  const id = await world.start('hi');
  await world.wait(id);
  expect(await world.cli(['goal', id])).toMatchObject({ code: 0, stdout: 'no goal\n' });
  expect(await world.cli(['goal', id, 'resume'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Expected a session with a goal, found one without.'),
  });
  await world.cli(['goal', id, 'set', 'ship it']);
  await world.event(id, 'goal_changed');
  expect((await world.cli(['goal', id])).stdout).toMatch(/^active, .*next run in 1[45]m/);
  const preview = await world.json<{ messages: { content: string }[] }>('context', id);
  expect(preview.messages.at(-1)?.content).toMatch(/^Goal: ship it\n[^]*Last note: CI runs$/);
  expect((await world.cli(['goal', id, 'pause'])).code).toBe(0);
  expect((await world.cli(['goal', id, 'pause'])).code).toBe(2);
  // A paused goal is nothing to wait for.
  expect((await world.wait(id)).code).toBe(0);
  resumed = true;
  expect((await world.cli(['goal', id, 'resume'])).code).toBe(0);
  const blocked = await world.wait(id);
  expect(blocked).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('I need the key of the server'),
  });
  expect((await world.cli(['goal', id, 'clear'])).code).toBe(0);
  expect((await world.facts(id)).goal).toBeNull();
  expect(world.model.requests).toHaveLength(3);
});

test('a goal that is set while no worker runs is kept, and worked on when one is there', async () => {
  await using world = await createWorld((request) =>
    isGoal(request) ? goalIs('complete', 'done') : say('hello'),
  );
  const id = await world.start('hi');
  await world.wait(id);
  await world.down();
  await world.up({ withWorker: false });
  expect((await world.cli(['goal', id, 'set', 'ship it'])).code).toBe(0);
  await world.down();

  await world.up();
  expect((await world.wait(id)).code).toBe(0);
  expect((await world.facts(id)).goal).toMatchObject({ objective: 'ship it', status: 'complete' });
});

test('a conversation shows and sets the goal, and asks for a summary', async () => {
  await using world = await createWorld((request) =>
    isGoal(request) ? goalIs('complete', 'done') : say('hello'),
  );
  const id = await world.start('hi');
  await world.wait(id);
  const input = ['/goal', '/compact', '/goal set ship  it', ''].join('\n');
  const { code, stdout } = await world.cli(['resume', id], { input });
  expect(code).toBe(0);
  expect(stdout).toMatch(/no goal\n[^]*goal set; the session works on it by itself/);
  await world.event(id, 'compaction_requested');
  await world.wait(id);
  expect((await world.facts(id)).goal).toMatchObject({ objective: 'ship  it', status: 'complete' });
  expect(await world.cli(['resume', id], { input: '/goal frob\n' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Expected set, pause, resume, clear or budget, found "frob"'),
  });
});

test('a plan of 43 steps is shown word for word, also after the worker was killed', async () => {
  const steps = Array.from({ length: 43 }, (_, index) => ({
    step: `${index}: “quotes”, \\back\\slashes, \ttabs and  blanks — no. ${index} `,
    status: index < 20 ? 'completed' : 'pending',
  }));
  await using world = await createWorld(({ step }) =>
    step === 0 ? callTool('update_plan', { steps }) : say('planned'),
  );
  const id = await world.start('plan it');
  await world.wait(id);
  expect((await world.facts(id)).plan).toEqual(steps);
  await world.kill('worker');
  expect((await world.facts(id)).plan).toEqual(steps);
  expect((await world.cli(['show', id])).stdout).toContain('plan       20 of 43 steps done');
});

test.each([
  ['an action that there is not', ['frob'], /Expected set, pause, resume, clear or budget, found "frob"/],
  ['a goal of nothing', ['set', ' '], /Expected a goal, found nothing/],
  [
    'a goal that is too long',
    ['set', 'x'.repeat(4_001)],
    /Expected a goal of 1 to 4000 characters, found 4001/,
  ],
  ['a budget that is none', ['set', 'x', '--budget', '-5'], /whole number of tokens/],
  ['no budget', ['budget'], /Expected a number of tokens, or `none`, found nothing/],
  ['more words than are meant', ['pause', 'now'], /Expected nothing more, found "now"/],
  ['a budget with pause', ['pause', '--budget', '5'], /Expected --budget with `set` alone/],
])('%s is refused before anything is started', async (_, args, words) => {
  await using world = await createWorld(() => say('hello'));
  expect(await world.cli(['goal', 'k3v9x2m7q4ta', ...args])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(words),
  });
});
