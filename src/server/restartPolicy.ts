/** When a dead process is started again. Pure. */

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
/**
 * For one that had become ready: it works, and whoever takes it down again and again is stopped by its own run's
 * crash budget. Waiting longer would only keep all other sessions from their worker.
 */
const MAX_BACKOFF_AFTER_READY_MS = 1_000;
/** This many deaths in the window, none of them after it was ready, and it is called crashed. */
const CRASH_DEATHS = 10;
const CRASH_WINDOW_MS = 120_000;
/** How slowly a crashed one is tried. */
const CRASHED_RETRY_MS = 60_000;
/** Whoever was ready for this long has recovered: the next death is the first again. */
export const STABLE_AFTER_MS = 10_000;

export interface Deaths {
  /** In a row, without a stable stretch between. */
  inRow: number;
  /** Times (ms since the epoch) of those within the window that had not become ready. */
  neverReady: number[];
  /** Stays until it is ready once, or is told to try anew. */
  crashed: boolean;
}

export const NO_DEATHS: Deaths = { inRow: 0, neverReady: [], crashed: false };

export interface Restart {
  deaths: Deaths;
  delayMs: number;
}

/** The first restart is at once, the next ones wait 0.25 s, 0.5 s, 1 s, and 2 s … 30 s if it never was ready. */
export function afterDeath(before: Deaths, now: number, readySince: number | undefined): Restart {
  const stable = readySince !== undefined && now - readySince >= STABLE_AFTER_MS;
  const inRow = stable ? 1 : before.inRow + 1;
  const recent = before.neverReady.filter((at) => at > now - CRASH_WINDOW_MS);
  const neverReady = readySince === undefined ? [...recent, now] : [];
  const crashed = readySince === undefined && (before.crashed || neverReady.length >= CRASH_DEATHS);
  const maxMs = readySince === undefined ? MAX_BACKOFF_MS : MAX_BACKOFF_AFTER_READY_MS;
  const backoffMs = inRow === 1 ? 0 : Math.min(FIRST_BACKOFF_MS * 2 ** (inRow - 2), maxMs);
  return { deaths: { inRow, neverReady, crashed }, delayMs: crashed ? CRASHED_RETRY_MS : backoffMs };
}
