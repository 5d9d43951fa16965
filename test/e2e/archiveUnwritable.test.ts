import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callTool, say } from '../../src/demo/scriptedTurns.ts';
import { all, checkLog, until, World } from '../support/world.ts';
import { startSession } from './support/rollingSession.ts';

const STEPS = 8;

test('while its archive can not be written a session waits and says why; then it goes on, and nothing is lost', async () => {
  const gate = Promise.withResolvers<void>();
  await using world = await World.create(async ({ step }) => {
    await gate.promise;
    return step < STEPS ? callTool('bash', { command: `echo ${step} >> log` }) : say('done');
  });
  await world.up();
  const id = await startSession(world, { history_events: 30 });
  // A file where the session's folder shall be. It stops root too, which a mode would not.
  const inTheWay = join(world.home.archive, id);
  await writeFile(inTheWay, '');
  gate.resolve();

  const held = await until(async () => {
    const { held_up } = await world.json<{ held_up: { attempt: number; failure: string }[] }>('show', id);
    return held_up.find(({ attempt }) => attempt >= 3);
  });
  expect(held).toMatchObject({
    activity: 'archiveSegment',
    failure: expect.stringMatching(
      /^Expected an archive that can be written, found: EEXIST.*goes on by itself/,
    ),
  });
  expect((await world.cli(['show', id])).stdout).toMatch(/held up +archiveSegment .*\n.*EEXIST/);
  const logged = await readFile(join(world.home.logs, 'worker.log'), 'utf8');
  expect(logged.split('\n').filter((line) => line.includes(held.failure))).not.toEqual([]);
  // It takes what is said to it meanwhile, and everything so far can be read.
  expect((await world.cli(['send', id, 'are you there?'])).code).toBe(0);
  const before = await world.events(id);
  expect(all(before, 'user_message').map(({ text }) => text)).toEqual(['go', 'are you there?']);

  await rm(inTheWay);
  expect((await world.wait(id)).code).toBe(0);
  const events = await world.events(id);
  checkLog(events);
  expect(events.slice(0, before.length)).toEqual(before);
  expect(all(events, 'run_finished').map(({ status }) => status)).toEqual(['success', 'success']);
  const once = Array.from({ length: STEPS }, (_, step) => `${step}\n`).join('');
  expect(await readFile(join(world.workspace, 'log'), 'utf8')).toBe(once + once);
  expect(await world.json('show', id)).toMatchObject({ held_up: [] });
}, 90_000);
