/** Files are opened so that nothing can hang: a fifo, a device or a folder is refused, never read. */
import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { hasCode } from '../../host/files.ts';
import type { WorkspacePath } from './paths.ts';
import { Refusal, refusalOf } from './refusal.ts';

/** A file that is edited is held in memory, several times over. */
const EDITED_FILE_MAX_BYTES = 64 * 1024 * 1024;

const CHUNK_BYTES = 256 * 1024;

/** What a file is now. */
export interface FileNow {
  /** sha256 of its bytes. */
  version: string;
  stats: Stats;
}

/** A file's bytes, too. */
export interface LoadedFile extends FileNow {
  bytes: Buffer;
}

/** Gives the open file to `use`; undefined when there is none. Throws Refusal for what is no regular file. */
export async function withFile<T>(
  path: WorkspacePath,
  use: (file: FileHandle, stats: Stats) => Promise<T>,
): Promise<T | undefined> {
  const file = await openRegular(path);
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    requireRegular(stats, path.relative);
    return await use(file, stats);
  } finally {
    await file.close();
  }
}

/** The file's version, read in pieces; undefined when there is none. */
export async function lookAt(path: WorkspacePath): Promise<FileNow | undefined> {
  return withFile(path, async (file, stats) => {
    const hash = createHash('sha256');
    for await (const chunk of chunksOf(file)) hash.update(chunk);
    return { version: hash.digest('hex'), stats };
  });
}

/** The whole file, for an edit; undefined when there is none. Throws Refusal when it is too large. */
export async function loadFile(path: WorkspacePath): Promise<LoadedFile | undefined> {
  return withFile(path, async (file, stats) => {
    if (stats.size > EDITED_FILE_MAX_BYTES) {
      throw new Refusal(
        `${path.relative} has ${stats.size} bytes; files of up to ${EDITED_FILE_MAX_BYTES} bytes can be edited. ` +
          `Change it with a command (sed, a script) through bash.`,
      );
    }
    const bytes = await file.readFile();
    return { version: versionOf(bytes), stats, bytes };
  });
}

/** The version that these bytes have: their sha256. */
export function versionOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The file's bytes from its beginning. A chunk is valid until the next one is asked for. */
export async function* chunksOf(file: FileHandle, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let position = 0; ; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function openRegular(path: WorkspacePath): Promise<FileHandle | undefined> {
  try {
    // Looked at before it is opened, since opening a device can have effects of its own.
    requireRegular(await lstat(path.absolute), path.relative);
    // NOFOLLOW: the path has no links; one that appears now is somebody's trick. NONBLOCK: so is a fifo.
    return await open(path.absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw refusalOf(error, path.relative);
  }
}

function requireRegular(stats: Stats, path: string): void {
  if (stats.isFile()) return;
  if (stats.isDirectory())
    throw new Refusal(`${path} is a folder, not a file. See what is in it with list_files.`);
  throw new Refusal(`${path} is no regular file (a fifo, socket or device). Only regular files can be used.`);
}
