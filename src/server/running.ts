/** Whether all that a command needs is ready; the fast way, by the state file and three processes. */
import type { Home } from '../host/home.ts';
import { SealedFileError } from '../host/sealedFile.ts';
import { readLiving, type Living } from './living.ts';
import { EMBEDDED_NAMESPACE, grpcAddress, uiUrl } from './serverCommand.ts';
import { realHome } from './state.ts';

/** An installation that takes work. */
export interface RunningInstallation {
  /** `127.0.0.1:port` for clients. */
  address: string;
  namespace: string;
  ui_url: string;
  /** Version of the Temporal server. */
  server_version: string;
  supervisor: { pid: number };
  server: { pid: number };
  /** Null: it was started without a worker. */
  worker: { pid: number; identity: string } | null;
}

/** The installation if the server serves and, where `withWorker`, the worker is ready. Starts nothing. */
export async function readRunning(home: Home, withWorker: boolean): Promise<RunningInstallation | undefined> {
  try {
    return runningOf(await readLiving(await realHome(home)), withWorker);
  } catch (error) {
    if (error instanceof SealedFileError) return undefined; // the supervisor writes it anew
    throw error;
  }
}

function runningOf(living: Living, withWorker: boolean): RunningInstallation | undefined {
  const { state, supervisor, server, workerFile } = living;
  if (!state || !supervisor || !server || state.server.phase !== 'ready') return undefined;
  if (withWorker && !isWorkerReady(living)) return undefined;
  return {
    address: grpcAddress(state.ports),
    namespace: EMBEDDED_NAMESPACE,
    ui_url: uiUrl(state.ports),
    server_version: state.binary.server_version,
    supervisor: { pid: supervisor.pid },
    server: { pid: server.pid },
    worker: workerFile ? { pid: workerFile.pid, identity: workerFile.identity } : null,
  };
}

function isWorkerReady({ state, workerFile }: Living): boolean {
  return state?.worker?.phase === 'ready' && workerFile?.state === 'ready';
}
