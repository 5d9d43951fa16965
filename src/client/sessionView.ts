/** What a session does at this moment, by its events alone: for whoever follows it and may be asked. */
import type { SessionEvent } from '../domain/event.ts';
import type { KnownFacts } from './facts.ts';
import { outcomeOfRun, type RunOutcome } from './outcome.ts';
import { PendingCalls } from './pendingCalls.ts';

export class SessionView {
  running = false;
  /** Messages that wait for the run's end. */
  queued = 0;
  readonly pending = new PendingCalls();
  /** Of the run that ended last, while this was watching. */
  outcome: RunOutcome | null = null;
  #interrupted = false;

  /** Begins with what is known; absent: a new session. */
  constructor(facts?: KnownFacts) {
    if (facts === undefined) return;
    this.running = facts.runs.at(-1)?.status === 'running';
    this.queued = facts.queued;
    this.pending.begin(facts.current_calls, facts.pending_approvals);
  }

  /** Nothing runs and nothing is about to. */
  get idle(): boolean {
    return !this.running && this.queued === 0;
  }

  /** Takes the next event. */
  take(event: SessionEvent): void {
    this.pending.take(event);
    switch (event.type) {
      case 'user_message':
        // A steering message enters the run under way and waits for nothing.
        if (event.delivery === 'queue' || !this.running) this.queued += 1;
        break;
      case 'run_started':
        this.running = true;
        this.#interrupted = false;
        this.queued = Math.max(0, this.queued - event.message_ids.length);
        break;
      case 'interrupt_requested':
        this.#interrupted = true;
        break;
      case 'run_finished':
        this.running = false;
        this.outcome = outcomeOfRun(event, this.#interrupted);
        break;
      default:
    }
  }
}
