/**
 * One supervisor for each home. The lock is the kernel's (SQLite takes it with fcntl), so it ends with
 * the process that holds it, however that ends: there is no stale lock to be taken over, and no race for it.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Home } from '../host/home.ts';

export interface Lock {
  release(): void;
}

/** The lock, or undefined while another process (or part of this one) holds it. Does not wait for that. */
export async function acquireLock(home: Home): Promise<Lock | undefined> {
  const { DatabaseSync } = await import('node:sqlite');
  for (let attempt = 1; ; attempt += 1) {
    // The file stays when the lock is released: if it were removed, one process could lock the old file
    // and another the new one.
    const database = new DatabaseSync(join(home.root, 'supervisor.lock'), { timeout: 0 });
    try {
      database.exec('PRAGMA journal_mode = MEMORY');
      database.exec('BEGIN EXCLUSIVE');
      return { release: () => database.close() };
    } catch (error) {
      database.close();
      if (isBusy(error)) return undefined;
      // Seen once in thousands of starts, on a busy machine: fcntl itself failed.
      if (!isLockFailure(error) || attempt === ATTEMPTS) throw error;
      await delay(PAUSE_MS);
    }
  }
}

const ATTEMPTS = 5;
const PAUSE_MS = 20;

/** SQLITE_BUSY is 5 (https://www.sqlite.org/rescode.html). */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

/** SQLITE_IOERR_LOCK. */
function isLockFailure(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 3850;
}
