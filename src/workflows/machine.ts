/**
 * The session in memory: its state, the events of this Temporal run, and the one `emit`. Everything here is
 * rebuilt by replay.
 */
import { workflowInfo } from '@temporalio/workflow';
import type { EventBody, SessionEvent } from '../domain/event.ts';
import { applyEvent } from '../domain/fold.ts';
import {
  HOST_PATIENCE_MS,
  PAGE_MAX_BYTES,
  ROLL_OVER_HISTORY_BYTES,
  ROLL_OVER_HISTORY_EVENTS,
  ROLL_OVER_SIGNALS,
} from '../domain/limits.ts';
import { jsonBytesAtMost } from '../domain/jsonBytes.ts';
import type { SessionState } from '../domain/session.ts';
import { upgradeState } from '../domain/upgrade.ts';
import type { Pressure } from '../domain/step.ts';
import type { LogPage, PageQuery, RollOverThresholds, SessionInput } from './contract.ts';
import { bus } from './proxies.ts';

export class SessionMachine {
  state: SessionState;
  /** Since `base`, all of them. */
  events: SessionEvent[];
  /** The state at the end of the archive; null while nothing is archived. */
  readonly base: SessionState | null;
  /** The number of the segment that is being written now. */
  readonly segment: number;
  readonly roll_over: RollOverThresholds;
  readonly host_patience_ms: number;
  readonly goal_second_ms: number | undefined;
  signals = 0;
  /** A time that a timer has waited for: it has come, whatever the clock says since. */
  #reached = '';

  constructor(input: SessionInput) {
    this.roll_over = input.roll_over ?? {};
    this.host_patience_ms = input.host_patience_ms ?? HOST_PATIENCE_MS;
    this.goal_second_ms = input.goal_second_ms;
    this.base = input.kind === 'new' ? null : upgradeState(input.state);
    this.segment = input.kind === 'new' ? 1 : input.segment;
    this.events = input.kind === 'continued' ? [...input.events] : [];
    this.state = this.events.reduce(applyEvent, this.base) as SessionState;
    if (input.kind === 'new') {
      const { session_id, user_id, title, workspace, settings } = input;
      this.emit({ type: 'session_created', session_id, user_id, title, workspace, settings });
    }
    if (input.kind === 'reopened') this.emit({ type: 'session_reopened' });
  }

  /** Records one event: folds it, keeps it for readers, and announces it. Nothing else does any of these. */
  emit(body: EventBody, run_id: string | undefined = this.state?.run?.run_id): SessionEvent {
    const event: SessionEvent = {
      seq: (this.state?.seq ?? 0) + 1,
      at: notBefore(this.state?.updated_at, new Date().toISOString()),
      ...(run_id === undefined ? {} : { run_id }),
      ...body,
    };
    this.state = applyEvent(this.state ?? null, event);
    this.events.push(event);
    bus.publish(this.state.session_id, event);
    return event;
  }

  /** Whether it is time to continue as new. */
  pressure(): Pressure {
    const info = workflowInfo();
    const history_full =
      info.continueAsNewSuggested ||
      info.historyLength >= (this.roll_over.history_events ?? ROLL_OVER_HISTORY_EVENTS) ||
      info.historySize >= (this.roll_over.history_bytes ?? ROLL_OVER_HISTORY_BYTES) ||
      this.signals >= (this.roll_over.signals ?? ROLL_OVER_SIGNALS);
    return { history_full, now: this.now() };
  }

  /** The time (ISO 8601), never before the last event or a time that was waited for. */
  now(): string {
    return notBefore(notBefore(this.#reached, this.state.updated_at), new Date().toISOString());
  }

  /** A timer for this time has fired. */
  reach(time: string): void {
    this.#reached = notBefore(this.#reached, time);
  }

  /** Events after a seq, at least one if there is any, at most `max_bytes` of JSON text. */
  page({ after_seq, max_bytes }: PageQuery): LogPage {
    const archived_through_seq = this.base?.seq ?? 0;
    const limit = Math.min(max_bytes, PAGE_MAX_BYTES);
    const events: SessionEvent[] = [];
    let size = 0;
    for (const event of this.events.slice(Math.max(0, after_seq - archived_through_seq))) {
      size += jsonBytesAtMost(event);
      if (events.length > 0 && size > limit) break;
      events.push(event);
    }
    const base = after_seq < archived_through_seq ? this.base : null;
    const archived_at = this.base?.updated_at ?? null;
    return { events, base, last_seq: this.state.seq, archived_through_seq, archived_at };
  }
}

/** A clock that was set back must not make an event older than the one before it. */
function notBefore(previous: string | undefined, now: string): string {
  return previous !== undefined && previous > now ? previous : now;
}
