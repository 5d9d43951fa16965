/**
 * Files that must be whole after any kill: written beside, fsynced, renamed, and the folder fsynced.
 * A reader sees the old content or the new, never a part.
 */
import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Access for files that may hold what only the user may see. */
export const PRIVATE_FILE_MODE = 0o600;
/** Access for folders that hold such files. */
const PRIVATE_FOLDER_MODE = 0o700;

/** Replaces `path` with `data` atomically and durably. Rejects with the file system's error (ENOSPC, EACCES …). */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  mode: number = PRIVATE_FILE_MODE,
): Promise<void> {
  const temporary = temporaryBeside(path);
  try {
    await writeFsynced(temporary, data, 'wx', mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await fsyncPath(dirname(path));
}

/**
 * Creates `path` durably, and only if it is not there. Returns false when somebody was first: of any
 * number of processes that try, exactly one gets true.
 */
export async function createFileExclusive(path: string, data: string | Uint8Array): Promise<boolean> {
  const temporary = temporaryBeside(path);
  try {
    await writeFsynced(temporary, data, 'wx', PRIVATE_FILE_MODE);
    // A link, not an exclusive open: the name appears with its whole content, or not at all.
    await link(temporary, path);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await fsyncPath(dirname(path));
  return true;
}

/** Writes `data` to `path` opened with `flags` and fsyncs it; the folder entry is not fsynced. */
async function writeFsynced(
  path: string,
  data: string | Uint8Array,
  flags: 'w' | 'wx' | 'a',
  mode: number,
): Promise<void> {
  const file = await open(path, flags, mode);
  try {
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a file's content, or the names in a folder, survive a loss of power. */
export async function fsyncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a folder that only the user can enter, parents included. */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER_MODE });
}

/** The file's text, or undefined when there is no such file. Other errors reject. */
export async function readFileIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Whether `error` is Node's error with this `code` (`ENOENT`, `EEXIST`, …). */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function temporaryBeside(path: string): string {
  return join(dirname(path), `.${randomBytes(6).toString('hex')}.tmp`);
}
