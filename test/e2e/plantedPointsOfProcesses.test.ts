/**
 * Runners that are killed, workers that are frozen while their call is given to another, and a machine that
 * seems to have been restarted: the exact events, and the exact text that the model gets.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { scriptByStep } from '../../src/demo/scriptedSteps.ts';
import { callTool, say } from '../../src/demo/scriptedTurns.ts';
import { identifyProcess } from '../../src/host/process.ts';
import { readStatus } from '../../src/server/installation.ts';
import { all, checkLog, until, World } from '../support/world.ts';
import { plant, readIfThere, runnerOf, storyOf, withoutNumbers } from './support/planted.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A frozen worker still takes tasks, and each of them is gone until it times out. */
const FROZEN_TEST_MS = 240_000;

const WORKER = fileURLToPath(new URL('../../src/worker/main.ts', import.meta.url));
const LONG = 'echo start >> log; echo said; sleep 3; echo done >> log';

test('runner and worker killed: the model is told when it was started, its output so far, and that its end is unknown', async () => {
  await using world = await World.create(scriptByStep([callTool('bash', { command: LONG }), say('seen')]));
  const id = await world.start('go');
  const runner = await runnerOf(world, id);
  process.kill(-runner, 'SIGKILL');
  await world.kill('worker');
  expect((await world.wait(id)).code).toBe(0);
  const events = await world.events(id);
  checkLog(events);
  const lost = [
    `The command was started at TIME by runner process PID. That process is gone and left no record of the end.`,
    'How the command ended, and with which exit code, is not known: it may have done all, a part or nothing of its work.',
    'No process of its process group runs now.',
    'Its output so far (5 bytes):\nsaid\n',
  ].join('\n');
  const [begun, uncertain, unknown, ...more] = storyOf(events);
  expect([begun, unknown, more]).toEqual(['tool_call', `tool_recovery unknown: ${lost}`, []]);
  expect(uncertain).toMatch(/^tool_recovery uncertain: /);
  const request = world.model.requests.at(-1);
  expect(request?.resultsOfTurn.map(withoutNumbers)).toEqual([
    `UNKNOWN: this call was begun and its result was lost. ${lost} Nothing was repeated. Check what is true now before you rely on it or do it again.`,
  ]);
  expect(withoutNumbers(request?.messages.at(-1)?.text ?? '')).toBe(
    [
      '<recovery>',
      'The agent was interrupted by a crash and has been restarted. About these calls, this is all that is known:',
      `- call call_2_0 (bash: ${LONG}): begun, its end is unknown. ${lost}`,
      'Check the real state before you rely on any of them. Do not assume that they were done, nor that they were not.',
      '</recovery>',
    ].join('\n'),
  );
  expect(await readIfThere(join(world.workspace, 'log'))).toBe('start\n');
  const started_at = /started at (\S+) by/.exec(request?.resultsOfTurn[0] ?? '')?.[1];
  const [called] = all(events, 'tool_call');
  expect(Math.abs(Date.parse(String(started_at)) - Date.parse(String(called?.at)))).toBeLessThan(5_000);
});

test('a command that kills its runner before the exit record: unknown, with its whole output, and not run again', async () => {
  const command = 'echo start >> log; echo done >> log; echo said; kill -9 $PPID';
  await using world = await World.create(scriptByStep([callTool('bash', { command }), say('seen')]));
  const id = await world.start('go');
  expect((await world.wait(id)).code).toBe(0);
  const story = storyOf(await world.events(id));
  expect(story[1]).toMatch(
    /^tool_recovery uncertain: Expected the runner of .* to record how its command ended/,
  );
  expect(story[2]).toContain('How the command ended, and with which exit code, is not known');
  expect(story).toHaveLength(3);
  expect(world.model.requests.at(-1)?.resultsOfTurn[0]).toMatch(
    /^UNKNOWN: .* was started at .*Its output so far \(5 bytes\):\nsaid\n Nothing was repeated\./s,
  );
  expect(await readIfThere(join(world.workspace, 'log'))).toBe('start\ndone\n');
});

test.concurrent('a worker frozen before its write while another does the call never writes when it is thawed', {
  timeout: FROZEN_TEST_MS,
}, async () => {
  await using frozen = await frozenAt('after_gate', [
    callTool('write_file', { path: 'a.txt', content: 'first\n' }),
    callTool('edit_file', { path: 'a.txt', old_text: 'first', new_text: 'second' }),
    say('seen'),
  ]);
  const { world, id } = frozen;
  expect((await storyOnce(frozen)).slice(0, 4)).toEqual([
    'tool_call',
    'tool_recovery uncertain: The worker stopped answering (HEARTBEAT).',
    "tool_recovery not_run: Its staged content was still in place and has been removed, so it never happened and can't any more. a.txt: sha256 now no file, as before the call.",
    'tool_result success: Created a.txt: 1 line, 6 bytes. Version HASH.',
  ]);
  await frozen.thaw();
  expect(await readIfThere(join(world.workspace, 'a.txt'))).toBe('second\n');
  expect(await readdir(world.workspace)).toEqual(['a.txt']);
  checkLog(await world.events(id));
});

test.concurrent('a worker frozen before its command while another does the call never runs it when it is thawed', {
  timeout: FROZEN_TEST_MS,
}, async () => {
  await using frozen = await frozenAt('after_intent', [
    callTool('bash', { command: 'echo once >> log; echo said' }),
    say('seen'),
  ]);
  const { world, id } = frozen;
  const said = '[exit code 0, ran SECONDS]\n\nsaid\n';
  expect(await storyOnce(frozen)).toEqual([
    'tool_call',
    'tool_recovery uncertain: The worker stopped answering (HEARTBEAT).',
    'tool_recovery not_run: The command was not run: no process had begun it, and its gate is closed now, so that none can begin it any more.',
    `tool_result success: ${said}`,
  ]);
  expect(world.model.requests.at(-1)?.resultsOfTurn.map(withoutNumbers)).toEqual([said]);
  await frozen.thaw();
  expect(await readIfThere(join(world.workspace, 'log'))).toBe('once\n');
  checkLog(await world.events(id));
});

test('after a restart of the machine a living process of the same pid is not taken for the command', async () => {
  // Longer than all of the test, which ends it.
  const command = 'echo start >> log; echo said; sleep 600; echo done >> log';
  await using world = await World.create(scriptByStep([callTool('bash', { command }), say('seen')]));
  const id = await world.start('go');
  const runner = await runnerOf(world, id);
  await until(async () => (await readIfThere(join(world.workspace, 'log'))) !== undefined);
  for (const part of ['supervisor', 'server', 'worker'] as const) await world.kill(part);
  world.env['HOLDFAST_BOOT_ID'] = 'another-boot';
  vi.stubEnv('HOLDFAST_BOOT_ID', 'another-boot');
  try {
    expect((await world.wait(id)).code).toBe(0);
    // It was let alone: to Holdfast it is some process that has its pid now.
    expect(await identifyProcess(runner)).toBeDefined();
  } finally {
    process.kill(-runner, 'SIGKILL');
  }
  const lost = [
    'The command was started at TIME by runner process PID. That process is gone and left no record of the end: the machine has been restarted since.',
    'How the command ended, and with which exit code, is not known: it may have done all, a part or nothing of its work.',
    'No process of its process group runs now.',
    'Its output so far (5 bytes):\nsaid\n',
  ].join('\n');
  expect(storyOf(await world.events(id))).toEqual([
    'tool_call',
    'tool_recovery uncertain: The worker was lost while it did this.',
    `tool_recovery unknown: ${lost}`,
  ]);
  expect(world.model.requests.at(-1)?.resultsOfTurn.map(withoutNumbers)).toEqual([
    `UNKNOWN: this call was begun and its result was lost. ${lost} Nothing was repeated. Check what is true now before you rely on it or do it again.`,
  ]);
  expect(await readIfThere(join(world.workspace, 'log'))).toBe('start\n');
});

interface Frozen extends AsyncDisposable {
  world: World;
  id: string;
  /** Lets the first worker go on, until it has said what became of its call. */
  thaw: () => Promise<void>;
}

/** A session whose worker froze at `point` of its first call, and which a second worker has brought to its end. */
async function frozenAt(
  point: 'after_gate' | 'after_intent',
  steps: Parameters<typeof scriptByStep>[0],
): Promise<Frozen> {
  let planted = false;
  const world: World = await World.create(async (request, index) => {
    if (!planted) await plant(world, point, 'SIGSTOP');
    planted = true;
    return scriptByStep(steps)(request, index);
  });
  world.env['HOLDFAST_FAULTS'] = world.beside('faults');
  await world.up();
  const first = await pidOf(world, 'worker');
  const id = await world.start('go');
  await until(async () => planted && (await readIfThere(join(world.beside('faults'), point))) === undefined);
  // It would replace a worker that answers nothing for half a minute; here somebody else takes over.
  const supervisor = await pidOf(world, 'supervisor');
  process.kill(supervisor, 'SIGSTOP');
  const second = await startWorker(world);
  expect((await world.wait(id)).code).toBe(0);
  return {
    world,
    id,
    thaw: async () => {
      process.kill(first, 'SIGCONT');
      const log = join(world.home.logs, 'worker.log');
      await until(async () => (await readIfThere(log))?.includes('"msg":"Activity failed"'));
    },
    async [Symbol.asyncDispose]() {
      second.kill('SIGKILL');
      await once(second, 'exit');
      process.kill(first, 'SIGKILL');
      process.kill(supervisor, 'SIGCONT');
      await world[Symbol.asyncDispose]();
    },
  };
}

/**
 * The story, each line once and without the attempts that were given to the frozen worker as well, which
 * takes tasks as long as its polls are open: of these nothing is ever planned.
 */
async function storyOnce({ world, id }: Frozen): Promise<string[]> {
  const lines = storyOf(await world.events(id)).filter((line) => !line.includes('No intent was recorded'));
  return [...new Set(lines)];
}

/** A worker of the same home that no supervisor knows of. */
async function startWorker(world: World): Promise<ChildProcess> {
  const address = (await readStatus(world.home)).server?.address ?? '';
  const { HOLDFAST_FAULTS: _, ...env } = world.env;
  return spawn(process.execPath, [WORKER], { env: { ...env, TEMPORAL_ADDRESS: address }, stdio: 'ignore' });
}

async function pidOf(world: World, part: 'worker' | 'supervisor'): Promise<number> {
  const found = (await readStatus(world.home))[part];
  if (found === null) throw new Error(`Expected a ${part}, found none.`);
  return found.pid;
}
