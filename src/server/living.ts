/** What of a home lives: the supervisor, the server and the worker, each proved by its identity. */
import type { Home } from '../host/home.ts';
import { isAlive, type ProcessIdentity } from '../host/process.ts';
import { SealedFileError } from '../host/sealedFile.ts';
import { readLivingWorker, type WorkerFile } from '../host/workerFile.ts';
import type { Ports } from './serverCommand.ts';
import { readState, type State } from './state.ts';

export interface Living {
  /** As the file says it, dead processes included; undefined when there is none that can be used. */
  state: State | undefined;
  supervisor: ProcessIdentity | undefined;
  server: ProcessIdentity | undefined;
  /** Of the living server, or of the last one. */
  ports: Ports | undefined;
  worker: ProcessIdentity | undefined;
  /** What the living worker says of itself; a worker that has just begun has said nothing yet. */
  workerFile: WorkerFile | undefined;
}

/** By the state file alone: fast, and what commands use. Rejects with SealedFileError. */
export async function readLiving(home: Home): Promise<Living> {
  const [state, workerFile] = await Promise.all([readState(home), readLivingWorker(home)]);
  const [supervisor, server, recorded] = await Promise.all(
    [state?.supervisor, state?.server.process, state?.worker?.process].map(living),
  );
  const worker = recorded ?? identityOf(workerFile);
  return { state, supervisor, server, ports: state?.ports, worker, workerFile };
}

/**
 * The same, and where the state file is lost or torn, by looking at all processes. For whoever holds the
 * lock and is about to start or to stop something.
 */
export async function findLiving(home: Home): Promise<Living> {
  const known = await readLiving(home).catch((error: unknown) => {
    if (error instanceof SealedFileError) return undefined;
    throw error;
  });
  if (known?.state !== undefined) return known;
  // It looks at all processes, which takes heavier imports than any other look.
  const { findServer } = await import('./findServer.ts');
  const [server, workerFile] = await Promise.all([findServer(home.databaseFile), readLivingWorker(home)]);
  return {
    state: undefined,
    supervisor: undefined,
    server: server?.process,
    ports: server?.ports,
    worker: identityOf(workerFile),
    workerFile,
  };
}

async function living(identity: ProcessIdentity | null | undefined): Promise<ProcessIdentity | undefined> {
  return identity && (await isAlive(identity)) ? identity : undefined;
}

function identityOf(file: WorkerFile | undefined): ProcessIdentity | undefined {
  return file && { pid: file.pid, start: file.start, boot: file.boot };
}
