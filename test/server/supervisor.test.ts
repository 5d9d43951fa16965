import { rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterEach, expect, test } from 'vitest';
import { isAlive } from '../../src/host/process.ts';
import { ensureUp, readStatus, takeDown } from '../../src/server/installation.ts';
import { readState } from '../../src/server/state.ts';
import {
  cleanUp,
  fixture,
  kill,
  processesOf,
  serversOn,
  tempHome,
  until,
  withFakeWorker,
} from './support.ts';

afterEach(cleanUp);

test('a killed server comes back on the same ports, and the worker is left alone', async () => {
  const home = await tempHome();
  const before = await ensureUp(home, withFakeWorker);
  const { server, worker } = await processesOf(home);
  await kill(server);
  const after = await ensureUp(home, withFakeWorker);
  expect(after).toMatchObject({
    address: before.address,
    ui_url: before.ui_url,
    worker: { pid: worker.pid },
  });
  expect(after.server.pid).not.toBe(before.server.pid);
});

test('a killed worker is started again at once', async () => {
  const home = await tempHome();
  await ensureUp(home, withFakeWorker);
  const { server, worker } = await processesOf(home);
  await kill(worker);
  await until('another worker', async () => {
    const status = await readStatus(home);
    return status.worker?.state === 'ready' && status.worker.pid !== worker.pid;
  });
  expect((await processesOf(home)).server).toEqual(server);
});

test('after the death of the supervisor the next one adopts what lives, and watches it', async () => {
  const home = await tempHome();
  await ensureUp(home, withFakeWorker);
  const first = await processesOf(home);
  await kill(first.supervisor);
  expect(await readStatus(home)).toMatchObject({
    supervisor: null,
    server: { pid: first.server.pid },
    worker: { pid: first.worker.pid, state: 'ready' },
  });
  await ensureUp(home, withFakeWorker);
  const second = await processesOf(home);
  expect(second).toEqual({ ...first, supervisor: second.supervisor });
  expect(second.supervisor).not.toEqual(first.supervisor);

  await kill(second.worker);
  await kill(second.server);
  await until('a new server and worker', async () => {
    const { server, worker } = await readStatus(home);
    return server !== null && worker?.state === 'ready' && worker.pid !== second.worker.pid;
  });
  expect((await processesOf(home)).supervisor).toEqual(second.supervisor);
});

test('all three killed come back on the same ports', async () => {
  const home = await tempHome();
  const before = await ensureUp(home, withFakeWorker);
  const { supervisor, server, worker } = await processesOf(home);
  await kill(supervisor); // first: it would start the others again
  await Promise.all([server, worker].map(kill));
  expect(await readStatus(home)).toEqual({ home: home.root, supervisor: null, server: null, worker: null });
  expect(await ensureUp(home, withFakeWorker)).toMatchObject({ address: before.address });
});

test('if somebody else has taken the port meanwhile, another is used and the worker is told', async () => {
  const home = await tempHome();
  const before = await ensureUp(home, withFakeWorker);
  const { supervisor, server, worker } = await processesOf(home);
  await kill(supervisor);
  await kill(server);
  const squatter = await squat(Number(before.address.split(':')[1]));
  try {
    const after = await ensureUp(home, withFakeWorker);
    expect(after.address).not.toBe(before.address);
    await until('a worker of the new address', async () => {
      const state = await readState(home);
      return state?.worker?.phase === 'ready' && state.worker.address === after.address;
    });
    expect(await isAlive(worker)).toBe(false);
  } finally {
    squatter.close();
  }
});

test('a state file that is removed or torn while the supervisor lives is written again', async () => {
  const home = await tempHome();
  await ensureUp(home, withFakeWorker);
  const before = await processesOf(home);
  await rm(home.stateFile);
  expect(await ensureUp(home, withFakeWorker)).toMatchObject({ supervisor: { pid: before.supervisor.pid } });
  await writeFile(home.stateFile, '{"version":1,"ho');
  expect(await ensureUp(home, withFakeWorker)).toMatchObject({ supervisor: { pid: before.supervisor.pid } });
  expect(await processesOf(home)).toEqual(before);
});

test('removing the home ends all that ran for it', async () => {
  const home = await tempHome();
  await ensureUp(home, withFakeWorker);
  const processes = Object.values(await processesOf(home));
  await rm(home.root, { recursive: true, force: true });
  await until('the end of all', async () => !(await Promise.all(processes.map(isAlive))).includes(true));
  expect(await takeDown(home)).toEqual({ stopped: [] });
});

test('wherever its start is cut off, there is never a second server', async () => {
  const home = await tempHome();
  for (const afterMs of [0, 50, 150, 300, 450]) {
    const command = execa(process.execPath, [fixture('up.ts'), home.root], { reject: false });
    // The moment is what is tested, so this sleep is no wait for anything.
    await until('a supervisor', async () => (await readState(home))?.supervisor !== undefined);
    await sleep(afterMs);
    const begun = await readState(home);
    if (begun) await kill(begun.supervisor);
    expect(await serversOn(home.databaseFile)).toBeLessThan(2);
    await command;
    const { supervisor, server, worker } = await processesOf(home);
    expect(await serversOn(home.databaseFile)).toBe(1);
    await kill(supervisor);
    await Promise.all([kill(server), kill(worker)]);
  }
}, 60_000);

/** Takes a port as soon as the last thread of the killed server has let go of it. */
async function squat(port: number): Promise<Server> {
  const server = createServer();
  await until(`port ${port} to be free`, async () => {
    return await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
  });
  return server;
}
