import { spawn } from 'node:child_process';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { execa } from 'execa';
import { afterEach, expect, test } from 'vitest';
import { homeAt } from '../../src/host/home.ts';
import { isAlive, identifyProcess } from '../../src/host/process.ts';
import { SealedFileError } from '../../src/host/sealedFile.ts';
import { SEARCH_ATTRIBUTES } from '../../src/host/searchAttributes.ts';
import { ensureUp, readStatus, takeDown } from '../../src/server/installation.ts';
import { inspectNamespace, lackingSearchAttributes, MAX_RETENTION_DAYS } from '../../src/server/namespace.ts';
import { readState, writeState } from '../../src/server/state.ts';
import {
  cleanUp,
  fixture,
  kill,
  listeningAddresses,
  processesOf,
  tempFolder,
  tempHome,
  until,
  withFakeWorker,
} from './support.ts';

afterEach(cleanUp);

/** A file on the disk that is there whether or not a home is up. */
const LASTING = ['supervisor.lock', 'temporal.db', 'temporal.db-shm', 'temporal.db-wal', 'worker-env.json'];
const FOLDERS = ['archive', 'blobs', 'journal', 'logs'];

test('up starts a server on 127.0.0.1 alone whose namespace keeps everything and has the search attributes', async () => {
  const home = await tempHome();
  const lines: string[] = [];
  const running = await ensureUp(home, { ...withFakeWorker, onProgress: (line) => lines.push(line) });
  expect(running).toMatchObject({
    namespace: 'default',
    address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
  });
  expect(lines).toEqual(['Starting the Temporal server and the worker']);
  expect((await fetch(running.ui_url)).status).toBe(200);
  if (process.platform === 'linux') {
    const addresses = await listeningAddresses(running.server.pid);
    expect(addresses.length).toBeGreaterThanOrEqual(4);
    for (const address of addresses) expect(address).toMatch(/^0100007F:/);
  }

  for (const other of ownAddresses()) {
    await expect(fetch(`http://${other}:${new URL(running.ui_url).port}`)).rejects.toThrow('fetch failed');
  }

  const connection = await Connection.connect({ address: running.address, interceptors: [] }); // none that tries again
  try {
    expect(await inspectNamespace(connection, 'default')).toEqual({
      namespace: 'default',
      retention_days: MAX_RETENTION_DAYS,
    });
    expect(await lackingSearchAttributes(connection, 'default')).toEqual({ missing: [], mistyped: [] });
    const query = Object.keys(SEARCH_ATTRIBUTES)
      .map((name) => `${name} IS NULL`)
      .join(' AND ');
    // start-dev's own limit on lists (100 a second) refuses 280 of these.
    const lists = Array.from(
      { length: 400 },
      async () =>
        await connection.workflowService.listWorkflowExecutions({ namespace: 'default', query, pageSize: 1 }),
    );
    expect(await Promise.all(lists)).toHaveLength(400);
  } finally {
    await connection.close();
  }
});

test('status says what runs, and when all runs both it and another up take a few milliseconds', async () => {
  const home = await tempHome();
  const running = await ensureUp(home, withFakeWorker);
  expect(await readStatus(home)).toEqual({
    home: home.root,
    supervisor: { pid: running.supervisor.pid },
    server: {
      pid: running.server.pid,
      address: running.address,
      ui_url: running.ui_url,
      version: expect.stringMatching(/^1\.\d+\.\d+/),
    },
    worker: { ...running.worker, started_at: expect.stringMatching(/^\d{4}-.*Z$/), state: 'ready' },
  });
  const link = join(await tempFolder(), 'link');
  await symlink(home.root, link);
  expect(await ensureUp(homeAt(link), withFakeWorker)).toEqual(running);
  const times: number[] = [];
  for (let round = 0; round < 10; round++) {
    const start = performance.now();
    expect(await ensureUp(home, withFakeWorker)).toEqual(running);
    times.push(performance.now() - start);
  }
  expect(Math.min(...times)).toBeLessThan(10);
});

test('many that call up at once get one and the same installation', async () => {
  const home = await tempHome();
  const elsewhere = async (): Promise<unknown> =>
    JSON.parse((await execa(process.execPath, [fixture('up.ts'), home.root])).stdout);
  const [first, ...others] = await Promise.all([
    elsewhere(),
    elsewhere(),
    ensureUp(home, withFakeWorker),
    ensureUp(home, withFakeWorker),
  ]);
  for (const other of others) expect(other).toEqual(first);
});

test('a command that has brought all up can end: nothing holds its pipes, its folder or its terminal', async () => {
  const home = await tempHome();
  const extra = Array.from({ length: 40 }, () => 'pipe' as const);
  // It resolves when every pipe is closed, those above the first 16 included, which Node does not mark by itself.
  const { stdio } = await execa(process.execPath, [fixture('up.ts'), home.root], {
    stdio: ['ignore', 'pipe', 'pipe', ...extra],
    cwd: await tempFolder(),
  });
  expect(stdio).toHaveLength(43);
  const { supervisor, server, worker } = await processesOf(home);
  for (const { pid } of process.platform === 'linux' ? [supervisor, server, worker] : []) {
    expect((await execa('readlink', [`/proc/${pid}/cwd`])).stdout).toBe(home.root);
    const [, , , session] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
    expect(Number(session)).toBe(pid);
  }
});

test('the server is given no key, the worker all of the environment', async () => {
  const home = await tempHome();
  const env = {
    ...process.env,
    OPENAI_API_KEY: 'sk-1',
    MY_SERVICE: 'https://user:pw@host',
    TEMPORAL_PROFILE: 'other',
  };
  const { server, address } = await ensureUp(home, { ...withFakeWorker, env });
  const given: unknown = JSON.parse(await readFile(join(home.root, 'worker-env.json'), 'utf8'));
  expect(given).toMatchObject({
    OPENAI_API_KEY: 'sk-1',
    MY_SERVICE: env.MY_SERVICE,
    HOLDFAST_HOME: home.root,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: 'default',
  });
  expect(given).not.toHaveProperty('TEMPORAL_PROFILE');
  if (process.platform === 'linux') {
    const names = (await readFile(`/proc/${server.pid}/environ`, 'utf8'))
      .split('\0')
      .map((pair) => pair.split('=')[0]);
    expect(names).toContain('PATH');
    for (const name of ['OPENAI_API_KEY', 'MY_SERVICE', 'TEMPORAL_PROFILE'])
      expect(names).not.toContain(name);
  }
});

test('two homes never meet, nor does the copy of a home meet the original', async () => {
  const [one, other, copy] = [await tempHome(), await tempHome(), await tempHome()];
  const [up, otherUp] = await Promise.all([ensureUp(one, withFakeWorker), ensureUp(other, withFakeWorker)]);
  expect(up.address).not.toBe(otherUp.address);
  for (const file of ['state.json', 'worker.json']) {
    await writeFile(join(copy.root, file), await readFile(join(other.root, file)));
  }
  expect(await readStatus(copy)).toEqual({ home: copy.root, supervisor: null, server: null, worker: null });
  expect(await takeDown(copy)).toEqual({ stopped: [] });
  await takeDown(one);
  const all = Object.values(await processesOf(other));
  expect(await Promise.all(all.map(isAlive))).toEqual([true, true, true]);
});

test('down leaves no process and no state', async () => {
  const home = await tempHome();
  await ensureUp(home, withFakeWorker);
  const processes = Object.values(await processesOf(home));
  expect(await takeDown(home)).toEqual({ stopped: ['supervisor', 'worker', 'server'] });
  expect(await Promise.all(processes.map(isAlive))).toEqual([false, false, false]);
  const left = await readdir(home.root);
  expect([...LASTING, ...FOLDERS]).toEqual(expect.arrayContaining(left));
  expect(await takeDown(home)).toEqual({ stopped: [] });
});

test('down ends server and worker though their supervisor is dead', async () => {
  const home = await tempHome();
  await ensureUp(home, withFakeWorker);
  const { supervisor, server, worker } = await processesOf(home);
  await kill(supervisor);
  expect(await takeDown(home)).toEqual({ stopped: ['worker', 'server'] });
  expect(await Promise.all([server, worker].map(isAlive))).toEqual([false, false]);
});

test('a stranger who has got the pid of a dead server is neither adopted nor killed', async () => {
  const home = await tempHome();
  await ensureUp(home, withFakeWorker);
  const { supervisor, server, worker } = await processesOf(home);
  const state = await readState(home);
  await kill(supervisor);
  await Promise.all([kill(server), kill(worker)]);
  const stranger = spawn('sleep', ['600']);
  try {
    const pid = stranger.pid ?? 0;
    if (!state?.worker) throw new Error('Expected a state with a worker.');
    const misleading = {
      ...state,
      supervisor: { ...supervisor, pid },
      server: { ...state.server, process: { ...server, pid } },
      worker: { ...state.worker, process: { ...worker, pid } },
    };
    await writeState(home, misleading);
    expect(await takeDown(home)).toEqual({ stopped: [] });
    await writeState(home, misleading);
    const running = await ensureUp(home, withFakeWorker);
    expect([running.supervisor.pid, running.server.pid, running.worker?.pid]).not.toContain(pid);
    expect(await identifyProcess(pid)).toBeDefined();
  } finally {
    stranger.kill('SIGKILL');
  }
});

test('with a torn state file and no supervisor, up finds the living server again, and down ends it', async () => {
  const home = await tempHome();
  await ensureUp(home, withFakeWorker);
  const before = await processesOf(home);
  await kill(before.supervisor);
  await writeFile(home.stateFile, '{"version":1,"home":');
  await expect(readStatus(home)).rejects.toThrow(SealedFileError);
  await expect(readStatus(home)).rejects.toThrow(/state\.json, found 20 characters .* Run `holdfast up`/);
  await ensureUp(home, withFakeWorker);
  const { server, worker, supervisor } = await processesOf(home);
  expect({ server, worker }).toEqual({ server: before.server, worker: before.worker });

  await kill(supervisor);
  await writeFile(home.stateFile, '');
  expect(await takeDown(home)).toEqual({ stopped: ['worker', 'server'] });
  expect(await isAlive(server)).toBe(false);
});

test('a worker that dies at once is an error that quotes its log, and commands need not wait for it', async () => {
  const home = await tempHome();
  const broken = { workerEntry: fixture('brokenWorker.ts') };
  const server = await ensureUp(home, { ...broken, waitForWorker: false });
  expect(server.worker).toBeNull();
  await expect(ensureUp(home, broken)).rejects.toThrow(
    /^Expected the worker to run, found that it died \d+ times in a row \(last: exit code 7\)[^]*Cannot load the bundle/,
  );
  expect(await readStatus(home)).toMatchObject({ server: { pid: server.server.pid }, worker: null });
});

test.for(['waiting', 'starting'])(
  'a worker killed five times in a row and now %s is up again with the next command',
  async (phase) => {
    const home = await tempHome();
    await ensureUp(home, withFakeWorker);
    for (let deaths = 1; deaths <= 5; deaths += 1) {
      await until('a worker', async () => (await readStatus(home)).worker?.state === 'ready');
      await kill((await processesOf(home)).worker);
      await until('its death', async () => (await readState(home))?.worker?.deaths === deaths);
    }
    await until(phase, async () => [phase, 'ready'].includes((await readState(home))?.worker?.phase ?? ''));
    expect((await ensureUp(home, withFakeWorker)).worker).not.toBeNull();
  },
);

/** Where this machine can be reached from outside. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address);
}
