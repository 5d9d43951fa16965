/** Stops all that runs for a home, in the order that loses nothing: worker, then server. */
import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Home } from '../host/home.ts';
import { isAlive, type ProcessIdentity } from '../host/process.ts';
import { removeWorkerFile } from '../host/workerFile.ts';
import { InstallationError } from './installationError.ts';
import { findLiving, type Living } from './living.ts';
import { acquireLock, type Lock } from './lock.ts';
import { logPath, quoteLog } from './logs.ts';
import { removeState } from './state.ts';
import { SERVER_GRACE_MS, signalProcess, stopProcess, WORKER_GRACE_MS } from './stopProcess.ts';

type PartName = 'supervisor' | 'worker' | 'server';

/** The supervisor's own graces, and something for itself. */
const SUPERVISOR_GRACE_MS = WORKER_GRACE_MS + SERVER_GRACE_MS + 10_000;
const POLL_MS = 50;

/** Resolves when nothing of the home runs. `home` has its real path. Rejects with InstallationError. */
export async function takeAllDown(home: Home): Promise<PartName[]> {
  const before = await findLiving(home);
  if (!(await isThere(home.root))) return await stopParts(before); // its supervisor ends by itself
  // With the lock in hand no supervisor can start while its parts are stopped.
  const lock = await lockAfterSupervisor(home, before.supervisor);
  try {
    await stopParts(await findLiving(home));
    await removeWorkerFile(home);
    await removeState(home);
  } finally {
    lock.release();
  }
  return (['supervisor', 'worker', 'server'] as const).filter((name) => before[name] !== undefined);
}

async function stopParts({ worker, server }: Living): Promise<PartName[]> {
  if (worker) await stopProcess(worker, WORKER_GRACE_MS);
  if (server) await stopProcess(server, SERVER_GRACE_MS);
  return [worker && ('worker' as const), server && ('server' as const)].filter((name) => name !== undefined);
}

/** Asks whoever supervises to stop, until the lock is free. */
async function lockAfterSupervisor(home: Home, supervisor: ProcessIdentity | undefined): Promise<Lock> {
  const deadline = Date.now() + SUPERVISOR_GRACE_MS;
  if (supervisor) await stopProcess(supervisor, SUPERVISOR_GRACE_MS);
  for (;;) {
    const lock = await acquireLock(home);
    if (lock !== undefined) return lock;
    // One that has just begun, or whose state file was torn, is named as soon as it writes the file.
    const holder = (await findLiving(home)).supervisor;
    if (holder && (await isAlive(holder))) await signalProcess(holder, 'SIGTERM');
    if (Date.now() > deadline) throw await heldError(home);
    await sleep(POLL_MS);
  }
}

async function heldError(home: Home): Promise<InstallationError> {
  return new InstallationError(
    `Expected the supervisor of ${home.root} to end within ${SUPERVISOR_GRACE_MS / 1000} s, found that it still holds ${home.root}/supervisor.lock. End the process that has that file open (lsof, fuser). ${await quoteLog(logPath(home, 'supervisor'))}`,
  );
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
