/**
 * The user's cache folder: one copy of the Temporal CLI for all homes. A file under its final name is
 * always whole, whoever was killed while fetching it and however many fetch at once.
 */
import { chmod, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fsyncPath, makePrivateFolder } from '../host/files.ts';
import { identifyProcess } from '../host/process.ts';
import { checkVersion, PINNED_CLI_VERSION } from './version.ts';

const WORK_PREFIX = '.install-';

/** `XDG_CACHE_HOME/holdfast` or `~/.cache/holdfast` (XDG base directory specification); `~/Library/Caches/holdfast` on macOS. */
function cacheFolder(env: NodeJS.ProcessEnv): string {
  const home = env['HOME'] || homedir();
  if (process.platform === 'darwin') return join(home, 'Library', 'Caches', 'holdfast');
  const xdg = env['XDG_CACHE_HOME'] ?? '';
  return join(isAbsolute(xdg) ? xdg : join(home, '.cache'), 'holdfast');
}

/** Where the pinned version for this platform is, once it is fetched. */
export function cachedBinary(env: NodeJS.ProcessEnv): string {
  return join(cacheFolder(env), `temporal-${PINNED_CLI_VERSION}-${process.platform}-${process.arch}`);
}

/**
 * Gives `fetchInto` an empty folder in the cache, and moves the file whose path it returns to its final
 * name, after it has said that it is the pinned version. Rejects with what `fetchInto` rejects with.
 */
export async function installIntoCache(
  env: NodeJS.ProcessEnv,
  fetchInto: (folder: string) => Promise<string>,
): Promise<string> {
  const cache = cacheFolder(env);
  await makePrivateFolder(cache);
  await sweep(cache);
  const folder = await mkdtemp(join(cache, `${WORK_PREFIX}${process.pid}-`));
  try {
    const file = await fetchInto(folder);
    await chmod(file, 0o755);
    const checked = await checkVersion(file);
    if (!checked.ok) throw new Error(checked.found);
    if (checked.version !== PINNED_CLI_VERSION) {
      throw new Error(`expected version ${PINNED_CLI_VERSION}, got ${checked.version}`);
    }
    await fsyncPath(file);
    // Of two that fetch at once the later one replaces the earlier one's file by the same; what runs goes on.
    await rename(file, cachedBinary(env));
    await fsyncPath(cache);
    return cachedBinary(env);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes work folders of processes that were killed. */
async function sweep(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const pid = Number(new RegExp(`^\\${WORK_PREFIX}(\\d+)-`).exec(name)?.[1]);
    if (pid > 0 && (await identifyProcess(pid)) === undefined) {
      await rm(join(cache, name), { recursive: true, force: true });
    }
  }
}
