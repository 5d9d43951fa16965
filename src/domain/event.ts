/**
 * One thing that happened in a session. All state is a fold of events (fold.ts), and events are rebuilt
 * from Temporal's history by replay: what is written here must come from signals, activity results and the
 * workflow's own clock alone. Fields are plain JSON.
 */
import type { RunError } from './failure.ts';
import type { GoalStatus, PlanStep } from './goal.ts';
import type { FinishReason, ModelApi, ModelToolCall, OpaqueReasoning, Usage } from './model.ts';
import type { ApprovalPolicy, BlobRef, EffectClass, FileVersion, ToolStatus } from './tool.ts';

/** Where a session's files are. */
export interface WorkspaceBinding {
  /** The host id of the installation that serves it. */
  host: string;
  /** Absolute path there. */
  path: string;
}

/** What a session keeps for life unless it is changed on purpose, whatever the configuration says later. */
export interface SessionSettings {
  model: string;
  api: ModelApi;
  /** Null: api.openai.com. */
  base_url: string | null;
  /** Tokens of input that the model takes; absent: by its name (contextWindow.ts). */
  context_window?: number;
  approval: ApprovalPolicy;
  on_interrupt: 'continue' | 'wait';
}

/** `queue` waits for the run's end, `steer` enters before the next model call. */
export type Delivery = 'queue' | 'steer';

/** One AGENTS.md, as the model is told of it. */
export interface Instructions {
  /** Relative to the workspace, or absolute where it lies above. */
  path: string;
  text: string;
  /** The file's size when `text` is only its beginning. */
  cut_from_bytes?: number;
}

/** One skill of the workspace's catalogue; its body is read when it is needed. */
export interface Skill {
  name: string;
  description: string;
  /** Of its SKILL.md, relative to the workspace, or absolute where it lies outside. */
  path: string;
}

/** A file that would count and could not be used, or not in full. */
export interface ProjectProblem {
  path: string;
  /** In a few words. */
  problem: string;
}

/** What the workspace says about itself, read on its host when a run starts. */
export interface ProjectFacts {
  /** sha256 of instructions, skills and problems: equal digests mean that none of them changed. */
  digest: string;
  instructions: Instructions[];
  /** Absent in projects without any. */
  skills?: Skill[];
  /** Absent where there are none. */
  problems?: ProjectProblem[];
  /** ISO date of the run on the workspace's host, e.g. 2026-03-01. */
  date: string;
  /** e.g. `linux x64`. */
  platform: string;
}

/** What stands in the context for all events up to one of them. */
export interface Summary {
  /** The last event that it covers. */
  through_seq: number;
  /** As the model wrote it. */
  text: string;
  /** The user's newest messages among those covered, word for word, oldest first. */
  user_messages: string[];
  /** Seqs of covered events that are still needed as they are: messages that wait, calls whose end is unknown. */
  carried: number[];
  /** Of the request that was summarised, and of the context that is left. */
  tokens_before: number;
  tokens_after: number;
  /** Of the call that made it. */
  usage: Usage | null;
  /** What was odd: that texts had to be cut for it, and the like. */
  notes?: string[];
}

/**
 * The project as a run found it: whole, or, where it has the digest that the session knew, what may differ
 * nevertheless. `unchanged` is absent in what was recorded before runs were compared.
 */
export type LoadedProject =
  | (ProjectFacts & { unchanged?: false })
  | (Pick<ProjectFacts, 'digest' | 'date' | 'platform'> & { unchanged: true });

/** A file of the project that differs from what the session knew of it. */
export interface ProjectChange {
  path: string;
  change: 'added' | 'changed' | 'removed';
}

export type RunTrigger = 'message' | 'goal' | 'recovery';
export type RunStatus = 'running' | 'success' | 'failed' | 'interrupted';
export type RecoveryStatus = 'uncertain' | 'running' | 'completed' | 'not_run' | 'unknown';

/** A tool call as it was accepted from a reply. */
export interface AcceptedCall {
  call_id: string;
  operation_id: string;
  tool: string;
  /** Parsed and checked; null when `problem` says why the call can't be run. */
  args: unknown;
  effect: EffectClass;
  /** What it acts on, in one line: a command, a path. */
  target: string;
  problem?: string;
}

export type EventBody =
  | {
      type: 'session_created';
      session_id: string;
      user_id: string;
      title: string;
      workspace: WorkspaceBinding;
      settings: SessionSettings;
    }
  | { type: 'user_message'; message_id: string; text: string; delivery: Delivery }
  /** `prompt`, of trigger `goal` alone: the words that begin the run for the model. */
  | { type: 'run_started'; trigger: RunTrigger; message_ids: string[]; prompt?: string }
  /** `changes`: since an earlier run; absent where there are none, as in the first run. */
  | { type: 'project_loaded'; project: LoadedProject; changes?: ProjectChange[] }
  | { type: 'model_called'; operation_id: string; model: string; through_seq: number }
  | {
      type: 'assistant_message';
      operation_id: string;
      text: string;
      reasoning: OpaqueReasoning | null;
      tool_calls: ModelToolCall[];
      finish_reason: FinishReason;
      usage: Usage | null;
      /** By the tokenizer, where the provider sent no usage. */
      estimated_usage?: Usage;
      context_digest: string;
      notes?: string[];
    }
  | ({ type: 'tool_call' } & AcceptedCall)
  | { type: 'approval_requested'; call_id: string }
  | { type: 'approval_decided'; call_id: string; by: string; decision: 'approve' | 'deny'; reason: string }
  | {
      type: 'tool_result';
      call_id: string;
      operation_id: string;
      status: ToolStatus;
      output: string;
      exit_code?: number;
      blob?: BlobRef;
      versions?: FileVersion[];
      recovered?: true;
    }
  | {
      type: 'tool_recovery';
      call_id: string;
      operation_id: string;
      status: RecoveryStatus;
      evidence: string;
      by: 'tool' | 'user';
    }
  | { type: 'interrupt_requested'; by: string }
  | { type: 'compaction_requested'; by: string }
  /**
   * A model call that was not made, or that the provider refused, since its context is too large: `count` is the
   * agent's own word, at COMPACT_AT_SHARE of the window. `tokens`: null where nobody counted them.
   */
  | {
      type: 'context_full';
      operation_id: string;
      tokens: number | null;
      window: number;
      by: 'count' | 'provider';
    }
  | ({ type: 'summary_created'; operation_id: string } & Summary)
  | { type: 'compaction_failed'; operation_id: string; error: RunError }
  | { type: 'run_finished'; status: Exclude<RunStatus, 'running'>; error: RunError | null; usage: Usage }
  | { type: 'workspace_missing'; workspace: WorkspaceBinding }
  /** No worker of the workspace's host took a call for a while; the session waits for it. */
  | { type: 'host_unreachable'; host: string }
  | { type: 'workspace_rebound'; workspace: WorkspaceBinding; by: string }
  | { type: 'session_renamed'; title: string }
  | { type: 'settings_changed'; settings: SessionSettings }
  /** A new goal, instead of the one before. `second_ms`: how long a second of its waiting lasts; absent: 1,000. */
  | { type: 'goal_set'; objective: string; budget: number | null; by: string; second_ms?: number }
  /** What is absent stays. `wait_seconds`: the model has nothing to do for so long. */
  | {
      type: 'goal_changed';
      by: string;
      status?: GoalStatus;
      budget?: number | null;
      note?: string;
      wait_seconds?: number;
    }
  | { type: 'goal_cleared'; by: string }
  | { type: 'plan_changed'; steps: PlanStep[] }
  | { type: 'session_completed' }
  | { type: 'session_archived' }
  | { type: 'session_reopened' };

/** `seq` counts from 1 without gaps; `at` is ISO 8601 in UTC and never earlier than the event before. */
export type SessionEvent = EventBody & { seq: number; at: string; run_id?: string };

export type EventType = EventBody['type'];

/** The event of one type. */
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;
