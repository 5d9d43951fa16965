import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { isAlive } from '../../src/host/process.ts';
import { ensureUp, readStatus, runForeground } from '../../src/server/installation.ts';
import { cleanUp, fixture, processesOf, tempHome, withFakeWorker } from './support.ts';

afterEach(cleanUp);

test('Ctrl+C ends what was brought up in the foreground', async () => {
  const home = await tempHome();
  const command = spawn(process.execPath, [fixture('foreground.ts'), home.root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(command.stdout, 'data'); // it says when all is ready
  const { supervisor, server, worker } = await processesOf(home);
  expect(supervisor.pid).toBe(command.pid);
  command.kill('SIGINT');
  expect(await once(command, 'exit')).toEqual([0, null]);
  expect(await Promise.all([server, worker].map(isAlive))).toEqual([false, false]);
  expect(await readStatus(home)).toEqual({ home: home.root, supervisor: null, server: null, worker: null });
});

test('with a supervisor in the background it is refused', async () => {
  const home = await tempHome();
  await ensureUp(home, withFakeWorker);
  await expect(runForeground(home, withFakeWorker)).rejects.toThrow(
    /found one in the background\. Run `holdfast down`/,
  );
  await processesOf(home);
});
