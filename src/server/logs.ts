/** Log files of server, worker and supervisor: bounded on disk, and quoted in errors. */
import { copyFile, open, rename, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../host/files.ts';
import type { Home } from '../host/home.ts';

const MAX_LOG_BYTES = 10 * 1024 * 1024;
/** With the file that is written to: `x.log`, `x.log.1`, `x.log.2`. */
const LOG_FILES = 3;
/** What an error quotes is looked for in this much of the end. */
const TAIL_BYTES = 16 * 1024;
const TAIL_LINES = 8;

export type LogName = 'supervisor' | 'server' | 'worker';

export function logPath(home: Home, name: LogName): string {
  return join(home.logs, `${name}.log`);
}

/**
 * Moves the content of a log that has grown beyond `maxBytes` to `path.1`, and what was there to `path.2`.
 * The process that writes has the file open to append, so it is copied and emptied, not renamed; a line
 * written between the two is lost, which a log may.
 */
export async function rotateIfLarge(path: string, maxBytes: number = MAX_LOG_BYTES): Promise<void> {
  try {
    if ((await stat(path)).size <= maxBytes) return;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw error;
  }
  for (let number = LOG_FILES - 1; number > 1; number--) {
    await renameIfThere(`${path}.${number - 1}`, `${path}.${number}`);
  }
  await copyFile(path, `${path}.1`);
  await truncate(path);
}

/** The last lines of a log, indented, for an error message. */
export async function quoteLog(path: string): Promise<string> {
  const lines = (await readEnd(path)).split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return `${path} is empty.`;
  return [
    `The last lines of ${path}:`,
    ...lines.slice(-TAIL_LINES).map((line) => `  ${line.slice(0, 400)}`),
  ].join('\n');
}

async function readEnd(path: string): Promise<string> {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const length = Math.min(size, TAIL_BYTES);
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.toString('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
