/** How the supervisor starts the worker, and when the worker counts as ready. */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Home } from '../host/home.ts';
import type { ProcessIdentity } from '../host/process.ts';
import { readLivingWorker } from '../host/workerFile.ts';
import { launchRecorded } from './launch.ts';
import { logPath } from './logs.ts';
import { EMBEDDED_NAMESPACE } from './serverCommand.ts';

const READY_POLL_MS = 50;

export interface WorkerLaunch {
  home: Home;
  env: NodeJS.ProcessEnv;
  /** File that this same Node runs. */
  entry: string;
  address: string;
}

/** Starts the worker, which is told its home and its server by the environment. */
export async function launchWorker(
  { home, env, entry, address }: WorkerLaunch,
  record: (identity: ProcessIdentity) => Promise<void>,
): Promise<ChildProcess> {
  return await launchRecorded(
    {
      program: process.execPath,
      args: [entry],
      env: workerEnvironment(env, home, address),
      cwd: home.root,
      logFile: logPath(home, 'worker'),
      // The commands that it runs for the user inherit its umask, so it keeps the user's own.
      privateFiles: false,
    },
    record,
  );
}

/** Waits until the worker itself says that it takes work (host/workerFile.ts). Rejects when aborted. */
export async function untilWorkerReady(
  home: Home,
  { pid }: ProcessIdentity,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const worker = await readLivingWorker(home);
    if (worker?.pid === pid && worker.state === 'ready') return;
    await sleep(READY_POLL_MS, undefined, { signal });
  }
}

/** All of the user's environment, but no TEMPORAL_* variable that could lead it to another server. */
function workerEnvironment(env: NodeJS.ProcessEnv, home: Home, address: string): NodeJS.ProcessEnv {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_'))),
    HOLDFAST_HOME: home.root,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: EMBEDDED_NAMESPACE,
  };
}
