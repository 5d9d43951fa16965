/** The beginning of a text file that may be anything: missing, huge, no text at all. */
import { open, stat } from 'node:fs/promises';
import { hasCode } from '../../host/files.ts';

export interface Beginning {
  /** At most `limit_bytes` of UTF-8, without NUL. */
  text: string;
  /** Of the whole file. */
  bytes: number;
  /** `text` is not all of it. */
  cut: boolean;
}

/** Undefined when there is no such file, or none that may be read: the work does not depend on it. */
export async function readBeginning(path: string, limit_bytes: number): Promise<Beginning | undefined> {
  try {
    const info = await stat(path);
    if (!info.isFile()) return undefined;
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(info.size, limit_bytes)), 0);
      const whole = decode(buffer.subarray(0, bytesRead), info.size > limit_bytes);
      // What is no text became longer by its replacement.
      const text = decode(
        Buffer.from(whole).subarray(0, limit_bytes),
        Buffer.byteLength(whole) > limit_bytes,
      );
      return { text, bytes: info.size, cut: info.size > limit_bytes || text !== whole };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (NOT_READABLE.some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}

/** EPERM: a folder that macOS keeps from programs; ELOOP: a link to itself. */
const NOT_READABLE = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'];

/** Text without NUL; of text that goes on, a character that is cut in two is left out. */
function decode(bytes: Uint8Array, goesOn: boolean): string {
  return new TextDecoder().decode(bytes, { stream: goesOn }).replaceAll('\0', '\uFFFD');
}
