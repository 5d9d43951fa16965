/** Reads one message's run out of a session's events: where it begins, what it answers, how it ends. */
import type { SessionEvent } from '../domain/event.ts';
import { outcomeOfRun, type RunOutcome } from './outcome.ts';
import { PendingCalls } from './pendingCalls.ts';

/** Where the message is. */
export type Stage = 'unseen' | 'queued' | 'running' | 'ended';

export class RunTracker {
  readonly #message_id: string;
  /** Calls of the run that wait for a person. */
  readonly pending = new PendingCalls();
  stage: Stage = 'unseen';
  run_id: string | null = null;
  /** The last reply of the run that asked for no tool. */
  answer: string | null = null;
  outcome: RunOutcome | null = null;
  #interrupted = false;

  constructor(message_id: string) {
    this.#message_id = message_id;
  }

  /** Takes the next event; true when it belongs to the message or its run. */
  take(event: SessionEvent): boolean {
    if (this.#takeBeginning(event)) return true;
    if (this.run_id === null || event.run_id !== this.run_id) return false;
    this.#takeOwn(event);
    return true;
  }

  #takeBeginning(event: SessionEvent): boolean {
    if (event.type === 'user_message' && event.message_id === this.#message_id) {
      if (this.stage === 'unseen') this.stage = 'queued';
      // A steering message enters the run under way, unless that ends before it could.
      if (event.delivery === 'steer' && event.run_id !== undefined) this.#enter(event.run_id);
      return true;
    }
    if (event.type !== 'run_started' || !event.message_ids.includes(this.#message_id)) return false;
    this.#enter(event.run_id ?? null);
    return true;
  }

  #enter(run_id: string | null): void {
    this.stage = 'running';
    this.run_id = run_id;
    this.outcome = null;
  }

  #takeOwn(event: SessionEvent): void {
    if (event.type === 'assistant_message' && event.tool_calls.length === 0) this.answer = event.text;
    if (event.type === 'interrupt_requested') this.#interrupted = true;
    if (event.type === 'run_finished') {
      this.stage = 'ended';
      this.outcome = outcomeOfRun(event, this.#interrupted);
    }
    this.pending.take(event);
  }
}
