/** The doctor's checks of this machine and this home. */
import { readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from '../host/files.ts';
import type { Home } from '../host/home.ts';
import { findTemporal, TemporalBinaryError } from './binary.ts';
import type { Finding } from './check.ts';
import { compareVersions } from './version.ts';

/** package.json, engines: from here on Node runs TypeScript and has node:sqlite without a flag. */
const MINIMUM_NODE_VERSION = '22.18.0';
/** sun_path has 104 bytes on macOS and 108 on Linux (unix(4), unix(7)), the closing NUL included. */
const MAX_SOCKET_PATH_BYTES = 103;
const MIN_FREE_BYTES = 1024 ** 3;

export function checkNode(): Finding {
  const found = process.versions.node;
  if (compareVersions(found, MINIMUM_NODE_VERSION) >= 0) return { ok: true, found };
  return { ok: false, found, remedy: `Install Node ${MINIMUM_NODE_VERSION} or later.` };
}

export async function checkBinary(env: NodeJS.ProcessEnv): Promise<Finding> {
  try {
    const { path, version, serverVersion } = await findTemporal({ env, fetchIfMissing: false });
    return { ok: true, found: `${path}, version ${version} (server ${serverVersion})` };
  } catch (error) {
    if (!(error instanceof TemporalBinaryError)) throw error;
    const found = error.tries.map((attempt) => `${attempt.where}: ${attempt.found}`).join('; ');
    const explicit = error.tries[0]?.where === 'HOLDFAST_TEMPORAL_CLI';
    const remedy = explicit ? error.tries[0]?.remedy : undefined;
    return {
      ok: false,
      found,
      remedy: remedy ?? '`holdfast up` fetches it. Or install it: https://docs.temporal.io/cli',
    };
  }
}

export async function checkHome({ root }: Home): Promise<Finding> {
  try {
    const { mode, uid } = await stat(root);
    const rights = (mode & 0o777).toString(8);
    const owner = process.getuid?.();
    if (uid !== owner) {
      return {
        ok: false,
        found: `${root} belongs to user ${uid}`,
        remedy: `Use a home of your own (HOLDFAST_HOME), or chown it to ${owner}.`,
      };
    }
    if ((mode & 0o077) === 0) return { ok: true, found: `${root}, mode 0${rights}` };
    return { ok: false, found: `${root}, mode 0${rights}: others can enter`, remedy: `chmod 700 ${root}` };
  } catch (error) {
    if (hasCode(error, 'ENOENT'))
      return { ok: true, found: `${root} is not there yet; \`holdfast up\` makes it` };
    throw error;
  }
}

export function checkSocketPath({ liveSocket }: Home): Finding {
  const bytes = Buffer.byteLength(liveSocket);
  const found = `${liveSocket}, ${bytes} bytes`;
  if (bytes <= MAX_SOCKET_PATH_BYTES) return { ok: true, found };
  return {
    ok: false,
    found,
    remedy: `Set HOLDFAST_HOME to a shorter path; a socket's has at most ${MAX_SOCKET_PATH_BYTES} bytes.`,
  };
}

export async function checkDiskSpace({ root }: Home): Promise<Finding> {
  const { bavail, bsize } = await statfs(await existing(root));
  const free = bavail * bsize;
  const found = `${(free / 1024 ** 3).toFixed(1)} GiB free for ${root}`;
  if (free >= MIN_FREE_BYTES) return { ok: true, found };
  return {
    ok: false,
    found,
    remedy: 'Free some space there: when the disk is full, nothing can be recorded and work stops.',
  };
}

/** More than this, and something keeps evidence from being cleared away. */
const JOURNAL_MAX_BYTES = 10 * 1024 ** 3;

/** The evidence of operations: cleared when a session's events are archived, so it stays small. */
export async function checkJournal({ journal }: Home): Promise<Finding> {
  const names = await readdir(journal, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = names.filter((name) => name.isFile());
  const sizes = await Promise.all(
    files.map(async (file) =>
      stat(join(file.parentPath, file.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const found = `${files.length} files, ${(bytes / 1024 ** 2).toFixed(1)} MiB in ${journal}`;
  if (bytes <= JOURNAL_MAX_BYTES) return { ok: true, found };
  return {
    ok: false,
    found,
    remedy: 'Archive sessions that are done (`holdfast archive ID`), and stop jobs that write without end.',
  };
}

/** The folder itself, or the nearest one above it that is there. */
async function existing(path: string): Promise<string> {
  try {
    await stat(path);
    return path;
  } catch (error) {
    if (hasCode(error, 'ENOENT') && dirname(path) !== path) return await existing(dirname(path));
    throw error;
  }
}
