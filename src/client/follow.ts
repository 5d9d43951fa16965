/**
 * A session as it goes on: each event once and in order, through deaths of worker and server. It wakes on
 * the history's long-poll or the live stream, then asks for what came after the last seq that it has told.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionEvent } from '../domain/event.ts';
import { EXIT, HoldfastError } from './errors.ts';
import { readEvents } from './events.ts';
import { watchHistory, type HistoryWatch } from './history.ts';
import { watchLive, type Delta } from './live.ts';
import { pauseAfter } from './retry.ts';
import type { Service } from './service.ts';
import { Wake } from './wake.ts';

/** What stopped answering, or answers again. */
export interface ConnectionChange {
  part: 'service' | 'worker';
  reachable: boolean;
}

export interface FollowOptions {
  /** The first seq to tell; absent: 1. */
  from?: number;
  onEvent: (event: SessionEvent) => void | Promise<void>;
  /** Everything up to this seq has been told; called each time that there is nothing more for now. */
  onCaughtUp?: (seq: number) => void | Promise<void>;
  /** Pieces of replies, where the worker of this host offers them. */
  onDelta?: (delta: Delta) => void;
  onConnection?: (change: ConnectionChange) => void;
  signal: AbortSignal;
  /** For how long nobody may answer; absent: for ever. */
  patience_ms?: number;
}

/** One look; a lost worker is waited for by looking again. */
const LOOK_PATIENCE_MS = 12_000;

/**
 * Resolves with `closed` when the session was archived and all is told, with `aborted` when the signal says
 * so. Rejects with `session.not_found`, with what `onEvent` throws, and, when nobody answers for
 * `patience_ms`, with exit code 4.
 */
export async function follow(
  service: Service,
  session_id: string,
  options: FollowOptions,
): Promise<'closed' | 'aborted'> {
  const ending = new AbortController();
  const signal = AbortSignal.any([options.signal, ending.signal]);
  const follower = new Follower(service, session_id, options, signal);
  try {
    return await follower.run();
  } catch (error) {
    if (options.signal.aborted) return 'aborted';
    throw error;
  } finally {
    ending.abort();
  }
}

class Follower {
  readonly #service: Service;
  readonly #session_id: string;
  readonly #options: FollowOptions;
  readonly #signal: AbortSignal;
  readonly #wake = new Wake();
  readonly #lost = new Set<ConnectionChange['part']>();
  #closed = false;
  #seq: number;

  constructor(service: Service, session_id: string, options: FollowOptions, signal: AbortSignal) {
    this.#service = service;
    this.#session_id = session_id;
    this.#options = options;
    this.#signal = signal;
    this.#seq = Math.max(0, (options.from ?? 1) - 1);
  }

  async run(): Promise<'closed' | 'aborted'> {
    this.#watch();
    this.#signal.addEventListener('abort', () => this.#wake.now(), { once: true });
    while (!this.#signal.aborted) {
      const seen = this.#wake.count;
      const closed = this.#closed;
      await this.#catchUp();
      await this.#options.onCaughtUp?.(this.#seq);
      if (closed) return 'closed';
      await this.#wake.after(seen);
    }
    return 'aborted';
  }

  #watch(): void {
    const signal = this.#signal;
    const onService = (reachable: boolean): void => this.#tell({ part: 'service', reachable });
    void this.#untilClosed({ wake: this.#wake, onService, signal });
    void watchLive(this.#service.home.liveSocket, this.#session_id, {
      onDelta: (delta) => this.#options.onDelta?.(delta),
      onEvent: () => this.#wake.now(),
      onWorker: (reachable) => this.#tell({ part: 'worker', reachable }),
      signal,
    });
  }

  async #untilClosed(watch: HistoryWatch): Promise<void> {
    try {
      await watchHistory(this.#service, this.#session_id, watch);
    } catch {
      return; // aborted
    }
    this.#closed = true;
    this.#wake.now();
  }

  /** Tells all events that there are, however often the asking has to begin again. */
  async #catchUp(): Promise<void> {
    const since = performance.now();
    for (let tries = 1; ; tries++) {
      try {
        await this.#tellNew();
        return;
      } catch (error) {
        const waited = performance.now() - since;
        if (!isNobodyThere(error) || waited > (this.#options.patience_ms ?? Infinity)) throw error;
        this.#tell({ part: error.code === 'worker.none' ? 'worker' : 'service', reachable: false });
        await delay(pauseAfter(tries), undefined, { signal: this.#signal });
        await this.#service.refresh();
      }
    }
  }

  async #tellNew(): Promise<void> {
    const asking = { patience_ms: LOOK_PATIENCE_MS, signal: this.#signal };
    for await (const event of readEvents(this.#service, this.#session_id, this.#seq + 1, asking)) {
      await this.#options.onEvent(event);
      this.#seq = event.seq;
    }
    for (const part of this.#lost) this.#tell({ part, reachable: true });
  }

  #tell(change: ConnectionChange): void {
    if (change.reachable === !this.#lost.has(change.part)) return;
    if (change.reachable) this.#lost.delete(change.part);
    else this.#lost.add(change.part);
    this.#options.onConnection?.(change);
  }
}

function isNobodyThere(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && error.exitCode === EXIT.noService;
}
