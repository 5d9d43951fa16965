/**
 * A worker that lives and does nothing (frozen, or its event loop blocked) is worse than a dead one: nobody
 * takes its place. It is asked over its live socket; any answer will do.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface PulseOptions {
  interval_ms?: number;
  /** For one answer. */
  answer_ms?: number;
  /** So many in a row without an answer, and it counts as hung. */
  misses?: number;
}

const INTERVAL_MS = 5_000;
const ANSWER_MS = 5_000;
/** Half a minute of silence: a machine that swaps, or was asleep, is not hung. */
const MISSES = 3;

/** Resolves when the process behind the socket takes connections and answers none; rejects when aborted. */
export async function untilHung(
  socketPath: string,
  signal: AbortSignal,
  { interval_ms = INTERVAL_MS, answer_ms = ANSWER_MS, misses = MISSES }: PulseOptions = {},
): Promise<void> {
  for (let missed = 0; missed < misses; ) {
    await sleep(interval_ms, undefined, { signal });
    missed = (await isSilent(socketPath, answer_ms, signal)) ? missed + 1 : 0;
  }
}

/** A socket that refuses is no sign of a hang: it may belong to nobody, or to another worker by now. */
async function isSilent(socketPath: string, answer_ms: number, signal: AbortSignal): Promise<boolean> {
  const asking = request({
    socketPath,
    path: '/pulse',
    signal: AbortSignal.any([signal, AbortSignal.timeout(answer_ms)]),
  });
  asking.end();
  try {
    await once(asking, 'response');
    return false;
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error && error.name === 'AbortError';
  } finally {
    asking.destroy();
  }
}
