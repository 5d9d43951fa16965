/** Ends a command and everything that it started: TERM, two seconds, KILL. */
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../../host/files.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../../host/process.ts';
import { listGroup, listStrays, type ProcessEntry } from './processes.ts';

/** What a command has from TERM until KILL to end by itself. */
export const STOP_GRACE_MS = 2_000;
/** What the kernel has to end what was sent KILL, also on a busy machine; what is left then can't be ended by us. */
const KILL_PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 25;

/** A command to be ended. */
export interface StopTarget {
  runner: ProcessIdentity;
  operation_id: string;
}

/**
 * Sends TERM to the runner's group and to the operation's processes outside of it, and KILL to what still
 * lives after STOP_GRACE_MS. The runner itself survives TERM, so that it can record the exit code. Resolves
 * when all are gone, or when KILL did not help (a process of another user, or one stuck in the kernel).
 */
export async function stopProcesses(target: StopTarget): Promise<void> {
  await signalAll(target, 'SIGTERM');
  if (await goneWithin(target, STOP_GRACE_MS)) return;
  const give_up = performance.now() + KILL_PATIENCE_MS;
  do {
    await signalAll(target, 'SIGKILL');
  } while (!(await goneWithin(target, LOOK_EVERY_MS)) && performance.now() < give_up);
}

async function signalAll(target: StopTarget, signal: NodeJS.Signals): Promise<void> {
  // Identity first, always: a bare pid may be a stranger's by now.
  if ((await isAlive(target.runner)) || (await listGroup(target.runner, target.operation_id)).length > 0) {
    send(-target.runner.pid, signal);
  }
  for (const stray of await listStrays(target.runner, target.operation_id)) {
    if ((await identifyProcess(stray.pid))?.start === stray.start) send(stray.pid, signal);
  }
}

async function goneWithin(target: StopTarget, patience_ms: number): Promise<boolean> {
  const give_up = performance.now() + patience_ms;
  for (;;) {
    if (!(await isAlive(target.runner)) && (await survivors(target)).length === 0) return true;
    if (performance.now() >= give_up) return false;
    await delay(LOOK_EVERY_MS);
  }
}

async function survivors(target: StopTarget): Promise<ProcessEntry[]> {
  const members = await listGroup(target.runner, target.operation_id);
  return members.length > 0 ? members : listStrays(target.runner, target.operation_id);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // Gone already, or another user's: the result names what still runs.
    if (!hasCode(error, 'ESRCH') && !hasCode(error, 'EPERM')) throw error;
  }
}
