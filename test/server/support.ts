/** Homes for tests: short paths, each its own, and nothing left behind. */
import { mkdtemp, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { homeAt, prepareHome, type Home } from '../../src/host/home.ts';
import { isAlive, type ProcessIdentity } from '../../src/host/process.ts';
import { findLiving } from '../../src/server/living.ts';
import { readState } from '../../src/server/state.ts';
import { signalProcess } from '../../src/server/stopProcess.ts';
import type { UpOptions } from '../../src/server/installation.ts';

const CONDITION_POLL_MS = 20;
const CONDITION_TIMEOUT_MS = 20_000;

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
export const withFakeWorker: UpOptions = { workerEntry: fixture('fakeWorker.ts') };

const folders: string[] = [];
const homes: Home[] = [];

export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
  folders.push(folder);
  return folder;
}

export async function tempHome(): Promise<Home> {
  const home = homeAt(join(await tempFolder(), 'h'));
  await prepareHome(home);
  homes.push(home);
  return home;
}

/** For afterEach: kills what the homes' files name, supervisor first, and removes the folders. */
export async function cleanUp(): Promise<void> {
  for (const home of homes.splice(0)) {
    for (const name of ['supervisor', 'server', 'worker'] as const) {
      const identity = (await findLiving(home))[name];
      if (identity) await kill(identity);
    }
  }
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
}

/** SIGKILL, and a wait until it is gone. */
export async function kill(identity: ProcessIdentity): Promise<void> {
  await signalProcess(identity, 'SIGKILL');
  await until(`the end of ${identity.pid}`, async () => !(await isAlive(identity)));
}

/** The three processes that the state file names. */
export async function processesOf(
  home: Home,
): Promise<Record<'supervisor' | 'server' | 'worker', ProcessIdentity>> {
  const state = await readState(home);
  if (!state?.server.process || !state.worker?.process)
    throw new Error(`Expected all to run in ${home.root}.`);
  return { supervisor: state.supervisor, server: state.server.process, worker: state.worker.process };
}

export async function until(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + CONDITION_TIMEOUT_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Expected ${what}, and it did not come.`);
    await sleep(CONDITION_POLL_MS);
  }
}

/** How many servers work on a database. */
export async function serversOn(databaseFile: string): Promise<number> {
  // `pgrep` leaves itself out; it exits with 1 when it finds none.
  const { stdout } = await execa('pgrep', ['-f', `start-dev.*--db-filename ${databaseFile} `], {
    reject: false,
  });
  return stdout.split('\n').filter((line) => line !== '').length;
}

/** `address:port` in hex, as /proc/net/tcp has it, of all that a process listens on. Linux alone. */
export async function listeningAddresses(pid: number): Promise<string[]> {
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map(
      async (fd) => await readlink(`/proc/${pid}/fd/${fd}`).catch(() => ''),
    ),
  );
  const inodes = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]));
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map(async (name) => await readFile(`/proc/net/${name}`, 'utf8')),
  );
  return tables
    .flatMap((table) => table.split('\n').map((line) => line.trim().split(/\s+/)))
    .filter((columns) => columns[3] === '0A' && inodes.has(columns[9]))
    .map((columns) => columns[1] ?? '');
}
