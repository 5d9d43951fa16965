/**
 * The embedded installation of one home, for commands: have it running, take it down, say what runs. When
 * all is up, `ensureUp` costs one small file and a look at three processes; what is heavy is imported later.
 */
import type { Home } from '../host/home.ts';
import type { WorkerState } from '../host/workerFile.ts';
import { readLiving } from './living.ts';
import { readRunning, type RunningInstallation } from './running.ts';
import { grpcAddress, uiUrl } from './serverCommand.ts';
import { realHome } from './state.ts';
import { needsWorker, type UpOptions } from './upOptions.ts';

export { readRunning };
export type { RunningInstallation, UpOptions };

/** `holdfast status --json`; what does not run is null. */
export interface Status {
  home: string;
  supervisor: { pid: number } | null;
  server: { pid: number; address: string; ui_url: string; version: string } | null;
  worker: { pid: number; identity: string; started_at: string; state: WorkerState } | null;
}

/**
 * Resolves when supervisor, server and worker run and are ready; starts or repairs what is not. May be
 * called by any number of processes at once. Rejects with TemporalBinaryError when there is no server to
 * start, and with InstallationError when something does not come up, which quotes its log.
 */
export async function ensureUp(home: Home, options: UpOptions = {}): Promise<RunningInstallation> {
  const running = await readRunning(home, needsWorker(options));
  if (running !== undefined) return running;
  const { bringUp } = await import('./bringUp.ts');
  return await bringUp(home, options);
}

/**
 * Stops worker, server and supervisor of this home, whichever of them live, and removes the state file.
 * Resolves when they are gone, with what was stopped.
 */
export async function takeDown(home: Home): Promise<{ stopped: ('supervisor' | 'worker' | 'server')[] }> {
  const { takeAllDown } = await import('./takeDown.ts');
  return { stopped: await takeAllDown(await realHome(home)) };
}

/**
 * What runs, each part proved by pid, start time and boot. Changes nothing. Rejects with SealedFileError
 * when the state file is torn.
 */
export async function readStatus(home: Home): Promise<Status> {
  const { state, supervisor, server, workerFile } = await readLiving(await realHome(home));
  return {
    home: home.root,
    supervisor: supervisor ? { pid: supervisor.pid } : null,
    server:
      server && state
        ? {
            pid: server.pid,
            address: grpcAddress(state.ports),
            ui_url: uiUrl(state.ports),
            version: state.binary.server_version,
          }
        : null,
    worker: workerFile
      ? {
          pid: workerFile.pid,
          identity: workerFile.identity,
          started_at: workerFile.started_at,
          state: workerFile.state,
        }
      : null,
  };
}

/** Runs the supervisor in this process until Ctrl+C, SIGTERM or `signal`, then takes all down. */
export async function runForeground(
  home: Home,
  options: UpOptions & { signal?: AbortSignal; onReady?: (running: RunningInstallation) => void } = {},
): Promise<void> {
  const { superviseInForeground } = await import('./foreground.ts');
  await superviseInForeground(home, options);
}
