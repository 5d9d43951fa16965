import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { acquireLock } from '../../src/server/lock.ts';
import { cleanUp, fixture, tempHome } from './support.ts';

afterEach(cleanUp);

test('one holds the lock, until it releases it', async () => {
  const home = await tempHome();
  const lock = await acquireLock(home);
  expect(lock).toBeDefined();
  expect(await acquireLock(home)).toBeUndefined();
  lock?.release();
  const again = await acquireLock(home);
  expect(again).toBeDefined();
  again?.release();
});

test('a lock whose holder is killed is free at once, and of many takers one gets it', async () => {
  const home = await tempHome();
  const holder = spawn(process.execPath, [fixture('holdLock.ts'), home.root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  expect(await acquireLock(home)).toBeUndefined();
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const locks = await Promise.all(Array.from({ length: 8 }, async () => await acquireLock(home)));
  const held = locks.filter((lock) => lock !== undefined);
  expect(held).toHaveLength(1);
  held[0]?.release();
});
