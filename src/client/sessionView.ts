/** What a session does at this moment, by its events alone: for whoever follows it and may be asked. */
import type { SessionEvent } from '../domain/event.ts';
import type { PendingApproval } from '../domain/facts.ts';
import type { KnownFacts } from './facts.ts';
import { outcomeOfRun, type RunOutcome } from './outcome.ts';

export class SessionView {
  running = false;
  /** Messages that wait for the run's end. */
  queued = 0;
  readonly pending = new Map<string, PendingApproval>();
  /** Of the run that ended last, while this was watching. */
  outcome: RunOutcome | null = null;
  readonly #calls = new Map<string, PendingApproval>();
  #interrupted = false;

  /** Begins with what is known; absent: a new session. */
  constructor(facts?: KnownFacts) {
    if (facts === undefined) return;
    this.running = facts.runs.at(-1)?.status === 'running';
    this.queued = facts.queued;
    for (const call of facts.current_calls) this.#calls.set(call.call_id, call);
    for (const call of facts.pending_approvals) this.pending.set(call.call_id, call);
  }

  /** Nothing runs and nothing is about to. */
  get idle(): boolean {
    return !this.running && this.queued === 0;
  }

  /** Takes the next event. */
  take(event: SessionEvent): void {
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
        this.#calls.clear();
        this.pending.clear();
        break;
      default:
        this.#takeCall(event);
    }
  }

  #takeCall(event: SessionEvent): void {
    if (event.type === 'tool_call') this.#calls.set(event.call_id, event);
    if (event.type === 'approval_requested') {
      const call = this.#calls.get(event.call_id);
      if (call !== undefined) this.pending.set(event.call_id, call);
    }
    if (event.type === 'approval_decided' || event.type === 'tool_result') this.pending.delete(event.call_id);
    if (event.type === 'tool_result') this.#calls.delete(event.call_id);
  }
}
