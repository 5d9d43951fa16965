/**
 * A session without Temporal: `nextStep` decides, the performing is played (outcomes.ts) with outcomes that
 * are read off a tape of numbers, and signals (signals.ts) arrive at any point of it. A tape that has ended
 * reads as zeros, which are the quiet outcomes, so that every session comes to rest.
 */
import type { EventBody, SessionEvent, SessionSettings } from '../../../src/domain/event.ts';
import { applyEvent } from '../../../src/domain/fold.ts';
import type { SessionState } from '../../../src/domain/session.ts';
import { nextStep } from '../../../src/domain/step.ts';
import type { Decision } from '../../../src/domain/step.ts';
import { later, msBetween } from '../../../src/domain/time.ts';
import { created, log, stateOf, timeOf } from './events.ts';
import { freeze } from './freeze.ts';
import { play } from './outcomes.ts';
import { sendSignal } from './signals.ts';

export interface Watcher {
  /** Before an event is folded. */
  onEvent?: (session: Simulation, event: SessionEvent) => void;
  /** Before a decision is performed. */
  onDecision?: (session: Simulation, decision: Decision) => void;
}

/** Far more than any tape of a test needs. */
const DECISIONS_MAX = 5_000;

export class Simulation {
  state: SessionState;
  readonly events: SessionEvent[];
  /** Sent so far. */
  messages = 0;
  /** Temporal's history is. */
  full = false;
  /** How far timers have moved the clock. */
  #slept_ms = 0;
  readonly #tape: readonly number[];
  readonly #watcher: Watcher;
  #read = 0;

  constructor(tape: readonly number[], settings: Partial<SessionSettings>, watcher: Watcher = {}) {
    this.#tape = tape;
    this.#watcher = watcher;
    this.events = log(created(settings));
    this.state = stateOf(this.events);
  }

  /** Plays until the session waits, or is closed, with the tape at its end. */
  run(): void {
    for (let decisions = 1; decisions <= DECISIONS_MAX; decisions += 1) {
      this.signals();
      const decision = nextStep(this.state, { history_full: this.full, now: this.now });
      this.#watcher.onDecision?.(this, decision);
      const resting = decision.do === 'wait' && decision.until === undefined;
      if (decision.do === 'close' || (resting && this.#read >= this.#tape.length)) return;
      this.#perform(decision);
    }
    throw new Error(`Expected the session to come to rest, found ${DECISIONS_MAX} decisions without it.`);
  }

  /** The clock; each event takes a second. */
  get now(): string {
    return later(timeOf(this.events.length), this.#slept_ms);
  }

  sleepUntil(time: string): void {
    this.#slept_ms += msBetween(this.now, time);
  }

  get interrupted(): boolean {
    return (this.state.run?.interrupted_by ?? null) !== null;
  }

  /** The next number of the tape, below `limit`. */
  pick(limit: number): number {
    const number = this.#tape[this.#read] ?? 0;
    this.#read += 1;
    return number % limit;
  }

  choose<T>(...from: T[]): T {
    return from[this.pick(from.length)] as T;
  }

  emit(body: EventBody, run_id: string | undefined = this.state.run?.run_id): void {
    const seq = this.events.length + 1;
    const at = later(timeOf(seq), this.#slept_ms);
    const event = { seq, at, ...(run_id === undefined ? {} : { run_id }), ...body };
    this.#watcher.onEvent?.(this, event);
    this.state = applyEvent(freeze(this.state), freeze(event));
    this.events.push(event);
  }

  /** Whatever clients send at this moment; most of the time nothing. */
  signals(): void {
    while (this.pick(4) === 1) sendSignal(this);
  }

  #perform(decision: Decision): void {
    const { events, interrupted } = this;
    const before = events.length;
    play(this, decision);
    const resting = decision.do === 'wait' || decision.do === 'roll_over';
    if (events.length === before && !resting && this.interrupted === interrupted)
      throw new Error(`Expected ${decision.do} to leave an event, found none: the session would spin.`);
  }
}
