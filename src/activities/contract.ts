/**
 * The activities that a session's workflow calls: their names, arguments and results. Arguments are ids and
 * numbers; what they stand for is read from the session's log.
 */
import type { LoadedProject, Summary, WorkspaceBinding } from '../domain/event.ts';
import type { ContextPreview, FinishReason, OpaqueReasoning, Usage } from '../domain/model.ts';
import type { EffectClass, Reconciliation, ToolOutcome } from '../domain/tool.ts';

/** One model call. The context is built from the events up to `through_seq`. */
export interface CallModelInput {
  session_id: string;
  operation_id: string;
  through_seq: number;
  /** Call whatever the size of the context is: nothing of it can be summarised. */
  unchecked?: true;
}

/** A call of the reply, checked against its tool's schema. */
export interface CheckedCall {
  /** As the model sent it; may be empty or used before. */
  call_id: string;
  tool: string;
  /** JSON text as the model wrote it. */
  arguments: string;
  effect: EffectClass;
  target: string;
  /** Why it can't be run. */
  problem?: string;
}

export interface CallModelResult {
  text: string;
  reasoning: OpaqueReasoning | null;
  calls: CheckedCall[];
  finish_reason: FinishReason;
  usage: Usage | null;
  /** Where the provider sent none. */
  estimated_usage?: Usage;
  context_digest: string;
  notes: string[];
}

/** The model was not called: its context is above COMPACT_AT_SHARE of the window, both in tokens. */
export interface ContextFull {
  context_full: { tokens: number; window: number };
}

/** One summary, of events up to `through_seq` at most. */
export interface SummarizeInput {
  session_id: string;
  operation_id: string;
  through_seq: number;
}

/** One tool call; its tool and arguments stand in the log's `tool_call` event of this call_id. */
export interface ToolInput {
  session_id: string;
  call_id: string;
  operation_id: string;
  through_seq: number;
  attempt: number;
}

export interface AttachInput extends ToolInput {
  /** Stop it instead of waiting: the run was interrupted. */
  stop: boolean;
}

/** A segment to write to the archive: the events from `from_seq` to `through_seq`. */
export interface ArchiveInput {
  session_id: string;
  segment: number;
  from_seq: number;
  through_seq: number;
}

/** What the archive has now. */
export interface ArchivedSegment {
  /** Of the segment's last event: by it the session knows its archive again. */
  updated_at: string;
}

export interface LoadProjectInput {
  workspace: WorkspaceBinding;
  /** Of the project as the session knows it; absent before the first run. */
  known_digest?: string;
}

/** On any worker (task queue `holdfast`). */
export interface ModelActivities {
  /** Rejects with the `model.*` failures. */
  callModel: (input: CallModelInput) => Promise<CallModelResult | ContextFull>;
  /** Null: nothing can be summarised. Rejects with the `model.*` failures. */
  summarize: (input: SummarizeInput) => Promise<Summary | null>;
}

/** On the workspace's host alone (task queue `holdfast-host-<hostId>`). */
export interface HostActivities {
  /** Rejects with `workspace.not_found`. */
  loadProject: (input: LoadProjectInput) => Promise<LoadedProject>;
  /** With more than one attempt for effect class `read` alone. Rejects with `workspace.not_found`. */
  runTool: (input: ToolInput) => Promise<ToolOutcome>;
  reconcileTool: (input: ToolInput) => Promise<Reconciliation>;
  /** Rejects with `operation.lost` when what it waited for went away without a result. */
  attachTool: (input: AttachInput) => Promise<ToolOutcome>;
  archiveSegment: (input: ArchiveInput) => Promise<ArchivedSegment>;
  /** Called by clients, not by a session: what its next model call would send. */
  previewContext: (input: { session_id: string }) => Promise<ContextPreview>;
}
