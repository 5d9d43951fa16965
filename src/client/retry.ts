/** Trying again with growing, jittered pauses, until a deadline. */
import { setTimeout as delay } from 'node:timers/promises';

const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

export interface RetryOptions {
  /** From now on; the last try may end later by its own deadline. */
  budget_ms: number;
  isRetryable: (error: unknown) => boolean;
  signal?: AbortSignal | undefined;
  /** Before each pause. */
  onRetry?: (error: unknown, tries: number) => void | Promise<void>;
}

/** Resolves with the first success. Rejects with the last error, or the signal's reason. */
export async function retrying<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const until = performance.now() + options.budget_ms;
  for (let tries = 1; ; tries++) {
    options.signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      options.signal?.throwIfAborted();
      const pause = pauseAfter(tries);
      if (!options.isRetryable(error) || performance.now() + pause >= until) throw error;
      await options.onRetry?.(error, tries);
      await delay(pause, undefined, { signal: options.signal });
    }
  }
}

/** Between half and all of 50 ms, 100 ms, … 1 s. */
export function pauseAfter(tries: number): number {
  const full = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries - 1, 10));
  return full / 2 + (Math.random() * full) / 2;
}
