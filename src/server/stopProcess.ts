/** Ends a process, and no other one that has got its pid since. */
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '../host/files.ts';
import { isAlive, type ProcessIdentity } from '../host/process.ts';

/** The worker finishes or hands back what it does (its own grace is 5 s, force 15 s). */
export const WORKER_GRACE_MS = 20_000;
/** The server needs 1 to 2 s with clients connected. */
export const SERVER_GRACE_MS = 10_000;
const POLL_MS = 20;

/** SIGTERM, then after `graceMs` SIGKILL. Resolves when the process is gone; at once if it is already. */
export async function stopProcess(identity: ProcessIdentity, graceMs: number): Promise<void> {
  const deadline = Date.now() + graceMs;
  if (!(await signalProcess(identity, 'SIGTERM'))) return;
  while (Date.now() < deadline) {
    if (!(await isAlive(identity))) return;
    await sleep(POLL_MS);
  }
  while (await signalProcess(identity, 'SIGKILL')) await sleep(POLL_MS);
}

/** Sends a signal to that very process. False when it is gone. */
export async function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): Promise<boolean> {
  if (!(await isAlive(identity))) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    throw error;
  }
}
