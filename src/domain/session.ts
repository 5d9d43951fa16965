/**
 * What a session is now. Plain JSON (no Map, Set, Date): continue-as-new carries it, so every field is
 * bounded (limits.ts). The conversation itself is not here; it is the events.
 */
import type {
  AcceptedCall,
  Delivery,
  ProjectFacts,
  RunStatus,
  RunTrigger,
  SessionSettings,
  Summary,
  WorkspaceBinding,
} from './event.ts';
import type { RunError } from './failure.ts';
import type { GoalState, PlanStep } from './goal.ts';
import type { Usage } from './model.ts';

export type SessionStatus = 'active' | 'completed' | 'archived';

/** What the session is doing, for lists and search attributes. */
export type RunStateName =
  | 'idle'
  | 'running'
  | 'waiting_approval'
  | 'host_unreachable'
  | 'failed'
  | 'interrupted';

/** A message that no model call has been sent yet. */
export interface QueuedMessage {
  message_id: string;
  seq: number;
  delivery: Delivery;
}

/**
 * A call of the current step: `pending` until its result is here, unless it waits for a person, lost its
 * worker (`uncertain`), or was found still running (`attached`).
 */
export type CallStatus = 'pending' | 'awaiting_approval' | 'uncertain' | 'attached' | 'settled';

/** The args stay in the event: state is bounded. */
export interface CallState extends Omit<AcceptedCall, 'args'> {
  status: CallStatus;
  approved: boolean;
  /** How often an activity was begun for it; the claim in the journal. */
  attempt: number;
}

/** The run under way. */
export interface RunState {
  run_id: string;
  number: number;
  trigger: RunTrigger;
  started_at: string;
  usage: Usage;
  /** Model calls so far; the current step. */
  step: number;
  project_loaded: boolean;
  /** A model call without a reply. */
  model_call: { operation_id: string; through_seq: number } | null;
  /** The last reply asked for no tool, so that it ends the run. */
  answered: boolean;
  /** What was wrong with that reply. */
  reply_error: RunError | null;
  calls: CallState[];
  interrupted_by: string | null;
  /** In a row, without a finished step. */
  recoveries: number;
  /** Absent: the context fits, or nobody has seen that it does not. `irreducible`: nothing of it can be summarised. */
  context?: 'full' | 'irreducible';
  /** In a row, without a reply of the model. */
  compactions?: number;
  /** Why the summary that the run cannot go on without could not be made. */
  compaction_error?: RunError;
}

/** A run that ended, or the current one. */
export interface RunSummary {
  run_id: string;
  status: RunStatus;
  started_at: string;
  finished_at: string | null;
  error: RunError | null;
  usage: Usage;
}

/** A call that was begun and whose end nobody knows. */
export interface UncertainOperation {
  call_id: string;
  operation_id: string;
  tool: string;
  target: string;
  status: 'uncertain' | 'running' | 'unknown';
  evidence: string;
  /** Of the attempt that was lost. */
  attempt: number;
  seq: number;
}

export interface SessionState {
  /** Of this type; a change of meaning raises it and `upgradeState` reads the older ones. */
  version: 1;
  session_id: string;
  user_id: string;
  title: string;
  status: SessionStatus;
  workspace: WorkspaceBinding;
  settings: SessionSettings;
  created_at: string;
  updated_at: string;
  /** Of the last event. */
  seq: number;
  run: RunState | null;
  run_count: number;
  /** The last RUNS_KEPT, oldest first, the current one included. */
  runs: RunSummary[];
  queue: QueuedMessage[];
  /** For deduplication, oldest first. */
  message_ids: string[];
  call_ids: string[];
  /** Path to version, least recently seen first. */
  file_versions: { path: string; version: string | null }[];
  uncertain: UncertainOperation[];
  /** The workspace's host has not answered since this became true. */
  host_unreachable: boolean;
  /** As read when the last run started. */
  project: ProjectFacts | null;
  goal: GoalState | null;
  /** Empty: there is none. */
  plan: PlanStep[];
  usage: Usage;
  /** What the context begins with; null while it is the whole conversation. `seq` is of its event. */
  summary: (Summary & { seq: number }) | null;
  /** Summaries made or tried; the number of the next one names its operation. */
  compactions: number;
  /** Somebody asked for a summary that has not been made yet. */
  compaction_requested: boolean;
  /** Of the last request and its reply, or what is left after a summary; 0 before the first. */
  context_tokens: number;
}
