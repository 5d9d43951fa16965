/** What `holdfast show` tells of a session: a view of its state, bounded like it. */
import { contextWindow } from './contextWindow.ts';
import type { SessionSettings, WorkspaceBinding } from './event.ts';
import { describeGoal } from './goal.ts';
import type { Goal, PlanStep } from './goal.ts';
import type { Usage } from './model.ts';
import type { RunStateName, RunSummary, SessionState, SessionStatus, UncertainOperation } from './session.ts';

/** A call that waits for a person. */
export interface PendingApproval {
  call_id: string;
  operation_id: string;
  tool: string;
  target: string;
}

/** The shape of `holdfast show --json`; fields are added, never renamed. */
export interface SessionFacts {
  session_id: string;
  user_id: string;
  title: string;
  status: SessionStatus;
  run_state: RunStateName;
  workspace: WorkspaceBinding;
  settings: SessionSettings;
  created_at: string;
  updated_at: string;
  /** The last RUNS_KEPT, newest last; `run_count` counts all. */
  runs: RunSummary[];
  run_count: number;
  /** Messages that wait for the run's end or the next model call. */
  queued: number;
  uncertain: Omit<UncertainOperation, 'seq' | 'attempt'>[];
  pending_approvals: PendingApproval[];
  /** Of the step under way: what has not ended. */
  current_calls: { call_id: string; operation_id: string; tool: string; target: string; status: string }[];
  goal: Goal | null;
  /** Null: there is none. */
  plan: PlanStep[] | null;
  usage: Usage;
  context: ContextFacts;
  last_seq: number;
}

/** How full the model's window is. */
export interface ContextFacts {
  /** Of the last request and its reply, by the provider's count or the tokenizer's; 0 before the first. */
  tokens: number;
  window: number;
  /** What the last summary covers; null: there is none. */
  summary_through_seq: number | null;
  /** Made or tried. */
  compactions: number;
  /** One is being made, or is made next. */
  compacting: boolean;
}

/** The view of `state`. */
export function describeSession(state: SessionState): SessionFacts {
  const calls = state.run?.calls ?? [];
  return {
    session_id: state.session_id,
    user_id: state.user_id,
    title: state.title,
    status: state.status,
    run_state: runStateName(state),
    workspace: state.workspace,
    settings: state.settings,
    created_at: state.created_at,
    updated_at: state.updated_at,
    runs: state.runs,
    run_count: state.run_count,
    queued: state.queue.length,
    uncertain: state.uncertain.map(({ seq: _, attempt: _attempt, ...operation }) => operation),
    pending_approvals: calls
      .filter((call) => call.status === 'awaiting_approval')
      .map(({ call_id, operation_id, tool, target }) => ({ call_id, operation_id, tool, target })),
    current_calls: calls
      .filter((call) => call.status !== 'settled')
      .map(({ call_id, operation_id, tool, target, status }) => ({
        call_id,
        operation_id,
        tool,
        target,
        status,
      })),
    goal: describeGoal(state.goal),
    plan: state.plan.length === 0 ? null : state.plan,
    usage: state.usage,
    context: {
      tokens: state.context_tokens,
      window: contextWindow(state.settings),
      summary_through_seq: state.summary?.through_seq ?? null,
      compactions: state.compactions,
      compacting: state.compaction_requested || state.run?.context === 'full',
    },
    last_seq: state.seq,
  };
}

/** What the session is doing; without a run, how the last one ended. */
export function runStateName(state: SessionState): RunStateName {
  if (state.run !== null) {
    if (state.run.calls.some((call) => call.status === 'awaiting_approval')) return 'waiting_approval';
    return state.host_unreachable ? 'host_unreachable' : 'running';
  }
  const last = state.runs.at(-1);
  return last?.status === 'failed' || last?.status === 'interrupted' ? last.status : 'idle';
}
