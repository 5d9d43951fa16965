import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scriptByStep } from '../../src/demo/scriptedSteps.ts';
import { callTool, callTools, say } from '../../src/demo/scriptedTurns.ts';
import { sharedWorlds } from '../support/sharedWorlds.ts';
import { all, checkLog, until } from '../support/world.ts';

const createWorld = sharedWorlds();

const LONG = 'echo start >> log; sleep 3; echo done >> log; cat log';

test('a worker killed during a command: the command goes on, its real result arrives, nothing is run twice', async () => {
  await using world = await createWorld(scriptByStep([callTool('bash', { command: LONG }), say('seen')]));
  const id = await world.start('go');
  await until(async () => contentOf(join(world.workspace, 'log')));
  await world.kill('worker');
  expect((await world.wait(id)).code).toBe(0);
  const events = await world.events(id);
  checkLog(events);
  expect(await contentOf(join(world.workspace, 'log'))).toBe('start\ndone\n');
  expect(all(events, 'tool_result')).toMatchObject([{ status: 'success', exit_code: 0, recovered: true }]);
  expect(all(events, 'tool_result')[0]?.output).toContain('start\ndone');
  expect(world.model.requests).toHaveLength(2);
  expect(world.model.requests[1]?.resultsOfTurn[0]).toContain('start\ndone');
});

test('a command that ended while no worker lived brings its real result when one comes back', async () => {
  await using world = await createWorld(
    scriptByStep([
      callTool('bash', { command: 'echo start >> log; sleep 1; echo done >> log; exit 3' }),
      say('seen'),
    ]),
  );
  const id = await world.start('go');
  await until(async () => contentOf(join(world.workspace, 'log')));
  await world.kill('supervisor');
  await world.kill('worker');
  await until(async () => (await contentOf(join(world.workspace, 'log')))?.includes('done'));
  expect((await world.wait(id)).code).toBe(0);
  const events = await world.events(id);
  expect(all(events, 'tool_recovery').map((event) => event.status)).toEqual(['uncertain', 'completed']);
  expect(all(events, 'tool_result')).toMatchObject([{ status: 'failed', exit_code: 3, recovered: true }]);
});

test('a worker killed in a model call: the call is made again under the same key and the run goes on', async () => {
  const arrived = Promise.withResolvers<void>();
  await using world = await createWorld(({ index }) => {
    arrived.resolve();
    return say('hello', index === 0 ? { first_byte_ms: 60_000 } : {});
  });
  const id = await world.start('go');
  await arrived.promise;
  await world.kill('worker');
  expect((await world.wait(id)).code).toBe(0);
  checkLog(await world.events(id));
  const keys = world.model.requests.map((request) => request.idempotencyKey);
  expect(keys).toEqual([`${id}.r1.s1.0`, `${id}.r1.s1.0`]);
});

test('server and worker killed together: the log is complete to the last event and the run goes on by itself', async () => {
  await using world = await createWorld(
    scriptByStep([
      callTools([
        { tool: 'bash', args: { command: LONG } },
        { tool: 'bash', args: { command: 'echo two' } },
      ]),
      say('seen'),
    ]),
  );
  const id = await world.start('go');
  await until(async () => contentOf(join(world.workspace, 'log')));
  const before = await world.events(id);
  await Promise.all([world.kill('server'), world.kill('worker')]);
  expect((await world.wait(id)).code).toBe(0);
  const after = await world.events(id);
  checkLog(after);
  expect(after.slice(0, before.length)).toEqual(before);
  expect(await contentOf(join(world.workspace, 'log'))).toBe('start\ndone\n');
  expect(all(after, 'tool_result').map((event) => event.status)).toEqual(['success', 'success']);
});

test('everything killed, the supervisor too: the next command brings it all back', async () => {
  await using world = await createWorld(scriptByStep([callTool('bash', { command: LONG }), say('seen')]));
  const id = await world.start('go');
  await until(async () => contentOf(join(world.workspace, 'log')));
  for (const part of ['supervisor', 'server', 'worker'] as const) await world.kill(part);
  const last = await world.cli(['resume', '--last', '--prompt', 'and then?']);
  expect(last.code).toBe(0);
  const facts = await world.facts(id);
  expect(facts.runs.map((run) => run.status)).toEqual(['success', 'success']);
  checkLog(await world.events(id));
  expect(await contentOf(join(world.workspace, 'log'))).toMatch(/^start\ndone\n/);
});

test('of parallel calls the finished one keeps its result and each of the others is settled by itself', async () => {
  await using world = await createWorld(
    scriptByStep([
      callTools([
        { tool: 'read_file', args: { path: 'a' } },
        { tool: 'read_file', args: { path: 'b' } },
        { tool: 'bash', args: { command: LONG } },
        { tool: 'bash', args: { command: 'echo last' } },
      ]),
      say('seen'),
    ]),
  );
  await writeFile(join(world.workspace, 'a'), 'A\n');
  await writeFile(join(world.workspace, 'b'), 'B\n');
  const id = await world.start('go');
  await until(async () => contentOf(join(world.workspace, 'log')));
  await world.kill('worker');
  expect((await world.wait(id)).code).toBe(0);
  const results = all(await world.events(id), 'tool_result');
  expect(results.map((event) => event.status)).toEqual(['success', 'success', 'success', 'success']);
  expect(results.map((event) => event.recovered ?? false)).toEqual([false, false, true, false]);
});

test('a worker that is told to stop hands its running command over without waiting for it', async () => {
  await using world = await createWorld(
    scriptByStep([
      callTool('bash', { command: 'echo start >> log; sleep 9; echo done >> log' }),
      say('seen'),
    ]),
  );
  const id = await world.start('go');
  await until(async () => contentOf(join(world.workspace, 'log')));
  await world.down();
  expect(await contentOf(join(world.workspace, 'log'))).toBe('start\n');
  expect((await world.wait(id)).code).toBe(0);
  expect(await contentOf(join(world.workspace, 'log'))).toBe('start\ndone\n');
  expect(all(await world.events(id), 'tool_result')).toMatchObject([{ status: 'success', recovered: true }]);
});

async function contentOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
