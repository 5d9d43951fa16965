/** Which calls wait for a person, by a session's events. */
import type { SessionEvent } from '../domain/event.ts';
import type { PendingApproval } from '../domain/facts.ts';

/** By call_id, in the order in which approval was asked for. */
export class PendingCalls extends Map<string, PendingApproval> {
  /** Calls without a result, which may be asked about later. */
  readonly #open = new Map<string, PendingApproval>();

  /** Begins with what is known. */
  begin(open: readonly PendingApproval[], pending: readonly PendingApproval[]): void {
    for (const call of open) this.#open.set(call.call_id, call);
    for (const call of pending) this.set(call.call_id, call);
  }

  /** Takes the next event. */
  take(event: SessionEvent): void {
    switch (event.type) {
      case 'tool_call':
        this.#open.set(event.call_id, event);
        break;
      case 'approval_requested': {
        const call = this.#open.get(event.call_id);
        if (call !== undefined) this.set(event.call_id, call);
        break;
      }
      case 'approval_decided':
        this.delete(event.call_id);
        break;
      case 'tool_result':
        this.delete(event.call_id);
        this.#open.delete(event.call_id);
        break;
      case 'run_finished':
        this.clear();
        this.#open.clear();
        break;
      default:
    }
  }
}
