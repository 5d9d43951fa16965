/** `state.json`: what the supervisor of a home runs, for every command that comes later. */
import { realpath, rm } from 'node:fs/promises';
import { homeAt, type Home } from '../host/home.ts';
import { hasCode } from '../host/files.ts';
import type { ProcessIdentity } from '../host/process.ts';
import { readSealed, writeSealed } from '../host/sealedFile.ts';
import type { Ports } from './serverCommand.ts';

export const STATE_VERSION = 1;

/**
 * `starting`: runs and does not serve yet. `waiting`: died, and is started again at `retry_at`.
 * `crashed`: died too often; it is tried again slowly, or at the next `holdfast up`.
 */
export type Phase = 'idle' | 'starting' | 'ready' | 'waiting' | 'crashed';

export interface PartState {
  process: ProcessIdentity | null;
  phase: Phase;
  /** Deaths in a row, without a good stretch between them. */
  deaths: number;
  last_exit: string | null;
  /** ISO 8601, in phases `waiting` and `crashed`. */
  retry_at: string | null;
}

export interface State {
  version: typeof STATE_VERSION;
  /** The home's real path: a copied home must not take the original's processes for its own. */
  home: string;
  supervisor: ProcessIdentity;
  ports: Ports;
  binary: { path: string; version: string; server_version: string };
  server: PartState;
  /** Null: started without a worker. */
  worker: (PartState & { entry: string; address: string }) | null;
}

/** `home` by its real path, so that a symbolic link to it is the same home. A missing one stays as it is. */
export async function realHome(home: Home): Promise<Home> {
  try {
    return homeAt(await realpath(home.root));
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return home;
    throw error;
  }
}

/**
 * The state, or undefined where there is none, or one of another home that was copied or moved here.
 * Rejects with SealedFileError when the file is torn or foreign.
 */
export async function readState(home: Home): Promise<State | undefined> {
  const state = await readSealed(
    home.stateFile,
    async () => (await import('./stateSchema.ts')).stateSchema,
    'Run `holdfast up`, which writes it anew from what runs, or `holdfast down`, which stops that and removes it.',
  );
  return state?.home === home.root ? state : undefined;
}

/** Resolves with the file's text. */
export async function writeState(home: Home, state: State): Promise<string> {
  return await writeSealed(home.stateFile, state);
}

export async function removeState(home: Home): Promise<void> {
  await rm(home.stateFile, { force: true });
}
