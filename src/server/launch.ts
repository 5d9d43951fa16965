/**
 * Starts a process that outlives its parent, and never one that nobody knows of: the process waits at a
 * gate until its pid is on the disk. A parent that is killed before that takes the process with it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { PRIVATE_FILE_MODE } from '../host/files.ts';
import { identifyProcess, type ProcessIdentity } from '../host/process.ts';

export interface Launch {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** Takes stdout and stderr. */
  logFile: string;
  /** Files that it makes are for the user alone. */
  privateFiles: boolean;
}

/** `exec` keeps the pid and the start time, so the identity that was recorded stays true. */
const GATE = 'read -r go && [ "$go" = go ] || exit 125; exec "$@" </dev/null';

/**
 * Starts `launch` in a session and process group of its own; `record` makes its identity durable before
 * the program itself begins. Rejects when it cannot be started.
 */
export async function launchRecorded(
  launch: Launch,
  record: (identity: ProcessIdentity) => Promise<void>,
): Promise<ChildProcess> {
  const log = await open(launch.logFile, 'a', PRIVATE_FILE_MODE);
  try {
    const script = launch.privateFiles ? `umask 077; ${GATE}` : GATE;
    const child = spawn('/bin/sh', ['-c', script, 'holdfast', launch.program, ...launch.args], {
      detached: true,
      stdio: ['pipe', log.fd, log.fd],
      cwd: launch.cwd,
      env: launch.env,
    });
    await once(child, 'spawn');
    await passGate(child, record);
    return child;
  } finally {
    await log.close();
  }
}

async function passGate(
  child: ChildProcess,
  record: (identity: ProcessIdentity) => Promise<void>,
): Promise<void> {
  const { stdin } = child;
  stdin?.on('error', () => {}); // it was killed at the gate: its exit says so
  try {
    const identity = child.pid === undefined ? undefined : await identifyProcess(child.pid);
    if (identity === undefined) throw new Error('it was gone before it could be recorded');
    await record(identity);
    stdin?.end('go\n');
  } catch (error) {
    stdin?.destroy(); // closes the gate: the process ends without having begun
    throw error;
  }
}
