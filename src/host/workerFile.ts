/**
 * `worker.json` in the home: the worker says who it is and whether it takes work. The supervisor and
 * `holdfast status` believe it only while that very process lives.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ZodType } from 'zod';
import type { Home } from './home.ts';
import { isAlive, type ProcessIdentity } from './process.ts';
import { readSealed, SealedFileError, writeSealed } from './sealedFile.ts';

export type WorkerState = 'starting' | 'ready' | 'stopping';

export interface WorkerFile extends ProcessIdentity {
  /** The worker's identity in Temporal: `host/boot/pid/start-time`. */
  identity: string;
  /** ISO 8601. */
  started_at: string;
  state: WorkerState;
}

/** What is written: the root as well, since a home may be copied while its worker runs. */
type Stored = WorkerFile & { home: string };

/** Says what the worker is now; replaces what it, or a worker before it, has said. */
export async function writeWorkerFile(home: Home, worker: WorkerFile): Promise<void> {
  await writeSealed(workerFilePath(home), { ...worker, home: home.root });
}

/** Removes the file, if it is there. The worker does so as its last act. */
export async function removeWorkerFile(home: Home): Promise<void> {
  await rm(workerFilePath(home), { force: true });
}

/** The worker that lives now, or undefined. A torn file counts as none: its writer replaces it. */
export async function readLivingWorker(home: Home): Promise<WorkerFile | undefined> {
  const stored = await readStored(home);
  if (stored === undefined || stored.home !== home.root) return undefined;
  const { home: _home, ...worker } = stored;
  return (await isAlive(worker)) ? worker : undefined;
}

function workerFilePath(home: Home): string {
  return join(home.root, 'worker.json');
}

async function readStored(home: Home): Promise<Stored | undefined> {
  try {
    return await readSealed(workerFilePath(home), loadSchema, 'Delete it.');
  } catch (error) {
    if (error instanceof SealedFileError) return undefined;
    throw error;
  }
}

async function loadSchema(): Promise<ZodType<Stored>> {
  const { z } = await import('zod');
  return z.object({
    pid: z.int().positive(),
    start: z.string(),
    boot: z.string(),
    identity: z.string(),
    started_at: z.string(),
    state: z.enum(['starting', 'ready', 'stopping']),
    home: z.string(),
  });
}
