/** The beginning of a text file that may be anything: missing, huge, no text, no file at all. */
import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { hasCode } from '../../host/files.ts';

export interface Beginning {
  /** At most `limit_bytes` of UTF-8, without NUL. */
  text: string;
  /** Of the whole file. */
  bytes: number;
  /** `text` is not all of it. */
  cut: boolean;
  /** The file that was read, all links followed. */
  real: string;
}

/** Something of that name is there and could not be used. */
export interface Unusable {
  /** Why, in a few words. */
  problem: string;
}

export interface BeginningOptions {
  /** No link may lead outside of this folder, which is given without links. */
  root: string;
  limit_bytes: number;
}

/** Undefined when nothing of that name is there. What can't be read is no failure: the work does not depend on it. */
export async function readBeginning(
  path: string,
  options: BeginningOptions,
): Promise<Beginning | Unusable | undefined> {
  try {
    const real = await realpath(path);
    if (!isInside(options.root, real))
      return { problem: `a link that leads outside of the project: ${real}` };
    return await readRegular(real, options.limit_bytes);
  } catch (error) {
    const missing = hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR');
    if (!missing) return { problem: problemOf(error) };
    return (await isThere(path)) ? { problem: 'a link that leads nowhere' } : undefined;
  }
}

const NO_FILE = { problem: 'no regular file' };

async function readRegular(real: string, limit_bytes: number): Promise<Beginning | Unusable> {
  // Looked at before it is opened, since opening a device can have effects of its own.
  if (!(await lstat(real)).isFile()) return NO_FILE;
  // NOFOLLOW: the path has no links; one that appears now is somebody's trick. NONBLOCK: so is a fifo.
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const info = await file.stat();
    if (!info.isFile()) return NO_FILE;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(info.size, limit_bytes)), 0);
    const whole = decode(buffer.subarray(0, bytesRead), info.size > limit_bytes);
    // What is no text became longer by its replacement.
    const text = decode(Buffer.from(whole).subarray(0, limit_bytes), Buffer.byteLength(whole) > limit_bytes);
    return { text, bytes: info.size, cut: info.size > limit_bytes || text !== whole, real };
  } finally {
    await file.close();
  }
}

/** Text without NUL; of text that goes on, a character that is cut in two is left out. */
function decode(bytes: Uint8Array, goesOn: boolean): string {
  return new TextDecoder().decode(bytes, { stream: goesOn }).replaceAll('\0', '\uFFFD');
}

/** The file itself is not to blame, and later it can be read. */
const EXHAUSTED = ['EMFILE', 'ENFILE', 'ENOMEM'];

/** Why it can't be read, in a few words. Throws what the next attempt may not meet. */
export function problemOf(error: unknown): string {
  if (EXHAUSTED.some((code) => hasCode(error, code))) throw error;
  // EPERM: a folder that macOS keeps from programs.
  if (hasCode(error, 'EACCES') || hasCode(error, 'EPERM')) return 'no permission to read it';
  if (hasCode(error, 'ELOOP')) return 'a link that leads in a circle';
  return `could not be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`;
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Both without links. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
