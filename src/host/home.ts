/** The folders and files of one installation, all below HOLDFAST_HOME. Two homes never meet. */
import { homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { randomBytes } from 'node:crypto';
import { createFileExclusive, makePrivateFolder, readFileIfThere } from './files.ts';

export interface Home {
  /** Absolute path of the home itself. */
  root: string;
  /** Evidence of operations: one folder for each (activities/journal). */
  journal: string;
  /** Whole outputs by sha256 (activities/journal/blobs.ts). */
  blobs: string;
  /** Events of ended segments (activities/archive). */
  archive: string;
  /** Log files of supervisor, server and worker. */
  logs: string;
  /** What runs now (server/state.ts). */
  stateFile: string;
  /** Temporal's database. */
  databaseFile: string;
  /** Live events and token deltas (worker/live.ts). A socket's path is limited to about 100 bytes. */
  liveSocket: string;
  /** API keys by base URL, mode 0600 (host/credentials.ts). */
  credentialsFile: string;
  /** Settings of this installation, `holdfast.json`. */
  settingsFile: string;
}

/** HOLDFAST_HOME, or the platform's state folder (XDG base directory specification; Library on macOS). */
export function locateHome(env: NodeJS.ProcessEnv = process.env): Home {
  return homeAt(resolve(env['HOLDFAST_HOME'] || defaultRoot(env)));
}

/** The layout below an absolute path. */
export function homeAt(root: string): Home {
  return {
    root,
    journal: join(root, 'journal'),
    blobs: join(root, 'blobs'),
    archive: join(root, 'archive'),
    logs: join(root, 'logs'),
    stateFile: join(root, 'state.json'),
    databaseFile: join(root, 'temporal.db'),
    liveSocket: join(root, 'live.sock'),
    credentialsFile: join(root, 'credentials.json'),
    settingsFile: join(root, 'holdfast.json'),
  };
}

/** Makes the home and its folders, with access for the user alone. */
export async function prepareHome(home: Home): Promise<void> {
  try {
    for (const folder of [home.root, home.journal, home.blobs, home.archive, home.logs]) {
      await makePrivateFolder(folder);
    }
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Expected a home that can be written at ${home.root}, found: ${found}. Set HOLDFAST_HOME to another folder.`,
      { cause: error },
    );
  }
}

/**
 * The name under which this installation serves workspaces (`holdfast-host-<hostId>`): the host's name and
 * six random hex digits, made once for each home, since the journal that settles operations lives there.
 */
export async function hostId(home: Home): Promise<string> {
  const path = join(home.root, 'host-id');
  const name = hostname()
    .replaceAll(/[^A-Za-z0-9-]/g, '-')
    .slice(0, 40);
  await createFileExclusive(path, `${name}-${randomBytes(3).toString('hex')}\n`);
  const id = (await readFileIfThere(path))?.trim() ?? '';
  if (!/^[A-Za-z0-9-]+$/.test(id)) {
    throw new Error(
      `Expected a host id in ${path}, found ${JSON.stringify(id.slice(0, 80))}. Delete the file to get a new one; sessions of the old id then need \`holdfast rebind\`.`,
    );
  }
  return id;
}

function defaultRoot(env: NodeJS.ProcessEnv): string {
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'holdfast');
  return join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'holdfast');
}
