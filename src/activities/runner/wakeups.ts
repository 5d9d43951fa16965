/** The events that a waiting worker is woken by, so that it need not poll. */
import { watch, type FSWatcher } from 'node:fs';
import { basename } from 'node:path';
import type { CommandProofs } from './proofs.ts';
import type { RunnerChild } from './start.ts';

/** The pace where the file system can't be watched (no inotify watches left). */
const WITHOUT_WATCH_MS = 100;

/** Wakes on the end of a child, or on the exit record of somebody else's; and on the signal's abort. */
export class Wakeups {
  childEnded = false;
  #pending: boolean;
  #wake: () => void = () => {};
  #watcher: FSWatcher | undefined;
  #slowest_ms = Number.POSITIVE_INFINITY;
  readonly #signal: AbortSignal;

  constructor(proofs: CommandProofs, options: { signal: AbortSignal; child?: RunnerChild }) {
    this.#signal = options.signal;
    this.#signal.addEventListener('abort', this.#notify);
    // Somebody else's runner may have ended before the watch: look at once. A child says so itself.
    this.#pending = options.child === undefined || this.#signal.aborted;
    if (options.child === undefined) this.#watch(proofs);
    else void options.child.ended.then(this.#onChildEnd);
  }

  /** Resolves at the next event, or at the one since the last call, or after `at_most_ms`. */
  async next(at_most_ms: number): Promise<void> {
    if (!this.#pending) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(at_most_ms, this.#slowest_ms));
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#pending = false;
  }

  /** Ends the listening; a pending `next` resolves. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#notify);
    this.#watcher?.close();
    this.#wake();
  }

  #notify = (): void => {
    this.#pending = true;
    this.#wake();
  };

  #onChildEnd = (): void => {
    this.childEnded = true;
    this.#notify();
  };

  #watch(proofs: CommandProofs): void {
    try {
      this.#watcher = watch(proofs.endedFolder, (_, name) => {
        if (name === null || name === basename(proofs.exitPath)) this.#notify();
      });
      this.#watcher.on('error', this.#onWatchError);
    } catch {
      this.#onWatchError();
    }
  }

  #onWatchError = (): void => {
    this.#slowest_ms = WITHOUT_WATCH_MS;
  };
}
