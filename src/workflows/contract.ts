/**
 * What clients and workers may say to a session's workflow: names and argument shapes alone, so that
 * importing this costs nothing. The workflow type `session` implements it in session.ts.
 */
import type { GoalAction } from '../domain/goalActions.ts';
import type { Delivery, SessionEvent, SessionSettings, WorkspaceBinding } from '../domain/event.ts';
import type { SessionState } from '../domain/session.ts';
import type { SettingsChange } from '../domain/settings.ts';

/** The workflow type of a session; its id is `workflowId(session_id)`. */
export const SESSION_WORKFLOW = 'session';

/** When a session continues as new. Absent fields take the limits of domain/limits.ts. */
export interface RollOverThresholds {
  history_events?: number;
  history_bytes?: number;
  signals?: number;
}

/**
 * How a session's workflow starts. `host_patience_ms`: how long a call may wait for the workspace's host before
 * the session says that it is unreachable; absent: HOST_PATIENCE_MS. `goal_second_ms`: how long a second of a
 * goal's waiting lasts; absent: 1,000, and only tests have something else.
 */
export type SessionInput =
  | {
      kind: 'new';
      session_id: string;
      user_id: string;
      title: string;
      workspace: WorkspaceBinding;
      settings: SessionSettings;
      roll_over?: RollOverThresholds;
      host_patience_ms?: number;
      goal_second_ms?: number;
    }
  | {
      /** After continue-as-new: the state when the last segment was archived, and the events since. */
      kind: 'continued';
      state: SessionState;
      events: SessionEvent[];
      segment: number;
      roll_over?: RollOverThresholds;
      host_patience_ms?: number;
      goal_second_ms?: number;
    }
  | {
      /** An archived session that is opened again from its archive. */
      kind: 'reopened';
      state: SessionState;
      segment: number;
      roll_over?: RollOverThresholds;
      host_patience_ms?: number;
      goal_second_ms?: number;
    };

/** A user's message. The same `message_id` twice is one message. */
export interface MessageSignal {
  message_id: string;
  text: string;
  delivery: Delivery;
}

/** Decides the pending approval of one call, or of all that are pending when `call_id` is null. */
export interface DecideSignal {
  call_id: string | null;
  decision: 'approve' | 'deny';
  by: string;
  reason: string;
}

/** A person settles an uncertain operation. */
export interface ResolveSignal {
  call_id: string;
  as: 'done' | 'not-done';
  note: string;
}

/** What the user does about the goal. */
export interface GoalSignal {
  by: string;
  action: GoalAction;
}

/** The arguments of each signal, by name. */
export interface SessionSignals {
  message: [MessageSignal];
  interrupt: [{ by: string }];
  decide: [DecideSignal];
  resolve: [ResolveSignal];
  rebind: [{ workspace: WorkspaceBinding; by: string }];
  rename: [{ title: string }];
  goal: [GoalSignal];
  configure: [{ settings: SettingsChange }];
  complete: [];
  archive: [];
  reopen: [];
  compact: [{ by: string }];
}

/** A page of events in order, each seq once. */
export interface EventPage {
  events: SessionEvent[];
  /** Of the session's newest event; the page may end before it. */
  last_seq: number;
  /** Events up to and including this seq are in the archive alone. */
  archived_through_seq: number;
}

/**
 * What a worker needs to rebuild a session: the events after `after_seq`, and, when these reach back
 * further than this Temporal run does, the state at `archived_through_seq`.
 */
export interface LogPage extends EventPage {
  base: SessionState | null;
  /** The time of event `archived_through_seq`, which tells one history from another; null while nothing is archived. */
  archived_at: string | null;
}

/** Arguments and result of each query, by name. `facts` answers with SessionFacts (domain/facts.ts). */
export interface PageQuery {
  after_seq: number;
  max_bytes: number;
}

/** The names of the queries. */
export const QUERIES = { facts: 'facts', events: 'events', log: 'log' } as const;
