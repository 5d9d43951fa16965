/** The one decision function: what a session does next. Pure; the workflow performs what it says. */
import type { RunTrigger } from './event.ts';
import { interruptedResult } from './evidence.ts';
import type { RunError } from './failure.ts';
import { compactionId, operationId } from './ids.ts';
import { COMPACTIONS_IN_A_ROW_MAX, CRASH_BUDGET_RECOVERIES } from './limits.ts';
import { budgetChange, dueChange, goalRunEnd, nextGoalRun } from './goalStep.ts';
import type { ChangeGoal, Wait } from './goalStep.ts';
import type { CallState, RunState, SessionState } from './session.ts';
import type { ToolStatus } from './tool.ts';

/** A result that needs no activity, since the call is not run. */
export interface Settlement {
  call: CallState;
  status: Exclude<ToolStatus, 'success'>;
  output: string;
}

export type Decision =
  | Wait
  | { do: 'start_run'; trigger: RunTrigger; message_ids: string[]; prompt?: string }
  | ChangeGoal
  | { do: 'load_project' }
  /** `unchecked`: whatever its size, since nothing of the context can be summarised. */
  | { do: 'call_model'; operation_id: string; through_seq: number; unchecked?: true }
  /** Puts a summary in the place of the older events. */
  | { do: 'compact'; operation_id: string; through_seq: number }
  | { do: 'request_approval'; calls: CallState[] }
  /** Read-only calls together, any other call alone. */
  | { do: 'run_tools'; calls: CallState[] }
  | { do: 'settle'; settlements: Settlement[] }
  | { do: 'reconcile'; calls: CallState[] }
  | { do: 'attach'; calls: CallState[]; stop: boolean }
  | { do: 'finish_run'; status: 'success' | 'failed' | 'interrupted'; error: RunError | null }
  | { do: 'roll_over' }
  | { do: 'close' };

/** What the decision needs beyond the state. */
export interface Pressure {
  /** Temporal's history has grown to its threshold. */
  history_full: boolean;
  /** The workflow's time (ISO 8601), for what waits for a time. */
  now: string;
}

/** What to do now. Deciding twice without a new event gives the same. */
export function nextStep(state: SessionState, pressure: Pressure): Decision {
  const due = dueChange(state);
  if (due !== undefined) return due;
  return state.run === null ? betweenRuns(state, pressure) : withinRun(state, state.run, pressure);
}

function betweenRuns(state: SessionState, pressure: Pressure): Decision {
  if (pressure.history_full) return { do: 'roll_over' };
  if (state.compaction_requested && state.status !== 'archived') return compact(state);
  const message = nextMessage(state);
  if (message !== undefined) return { do: 'start_run', trigger: 'message', message_ids: [message] };
  if (state.status === 'archived') return { do: 'close' };
  return nextGoalRun(state, pressure.now) ?? { do: 'wait' };
}

/** A steering message that came too late for its run goes first: it was meant for what just ended. */
function nextMessage(state: SessionState): string | undefined {
  const steering = state.queue.find((message) => message.delivery === 'steer');
  return (steering ?? state.queue[0])?.message_id;
}

function withinRun(state: SessionState, run: RunState, pressure: Pressure): Decision {
  if (run.recoveries > CRASH_BUDGET_RECOVERIES) return crashLoop(run);
  const lost = lostCalls(state, run);
  if (lost !== undefined) return lost;
  const open = run.calls.filter((call) => call.status !== 'settled');
  if (open.length > 0) return settleCalls(state, run, open, pressure);
  return endOf(state, run) ?? goOn(state, run, pressure);
}

/** How a run ends of which nothing is under way; undefined when it goes on. */
function endOf(state: SessionState, run: RunState): Decision | undefined {
  if (run.interrupted_by !== null) return { do: 'finish_run', status: 'interrupted', error: null };
  const ended = goalRunEnd(state, run);
  if (ended !== undefined) return ended;
  if (!run.answered || state.queue.some((message) => message.delivery === 'steer')) return undefined;
  const status = run.reply_error === null ? 'success' : 'failed';
  return { do: 'finish_run', status, error: run.reply_error };
}

function goOn(state: SessionState, run: RunState, pressure: Pressure): Decision {
  if (!run.project_loaded) return { do: 'load_project' };
  return nextCall(state, run, pressure);
}

/** Here every call of the step before is settled: nothing that rolls over or is summarised waits for a result. */
function nextCall(state: SessionState, run: RunState, pressure: Pressure): Decision {
  if (pressure.history_full) return { do: 'roll_over' };
  return budgetChange(state) ?? compaction(state, run) ?? callModel(state, run);
}

function callModel(state: SessionState, run: RunState): Decision {
  return {
    do: 'call_model',
    operation_id: operationId(run.run_id, run.step + 1, 0),
    through_seq: state.seq,
    ...(run.context === 'irreducible' ? { unchecked: true as const } : {}),
  };
}

function compaction(state: SessionState, run: RunState): Decision | undefined {
  if (run.compaction_error !== undefined)
    return { do: 'finish_run', status: 'failed', error: run.compaction_error };
  if (run.context !== 'full') return state.compaction_requested ? compact(state) : undefined;
  return (run.compactions ?? 0) < COMPACTIONS_IN_A_ROW_MAX ? compact(state) : endlessCompaction(run);
}

function compact(state: SessionState): Decision {
  const operation_id = compactionId(state.session_id, state.compactions + 1);
  return { do: 'compact', operation_id, through_seq: state.seq };
}

function endlessCompaction({ compactions }: RunState): Decision {
  return {
    do: 'finish_run',
    status: 'failed',
    error: {
      code: 'model.context_too_long',
      message: `The context was summarised ${compactions} times in a row, and the rest of it is still too large for the model.`,
      remedy:
        'Send a message to go on summarising where it stopped, or choose a model with a larger context (`--model`, `--context-window`).',
    },
  };
}

/** What lost its worker comes first: nothing else may begin before it is known what became of it. */
function lostCalls(state: SessionState, run: RunState): Decision | undefined {
  const own = run.calls.filter((call) => call.status === 'uncertain' || call.status === 'attached');
  if (own.length > 0 && state.settings.on_interrupt === 'wait' && run.interrupted_by === null) {
    return { do: 'finish_run', status: 'interrupted', error: null };
  }
  const lost = [...leftOver(state, run), ...own];
  const uncertain = lost.filter((call) => call.status === 'uncertain');
  if (uncertain.length > 0) return { do: 'reconcile', calls: uncertain };
  return lost.length > 0 ? { do: 'attach', calls: lost, stop: run.interrupted_by !== null } : undefined;
}

/** Calls of earlier runs that ended before anybody had looked. */
function leftOver(state: SessionState, run: RunState): CallState[] {
  return state.uncertain
    .filter((operation) => operation.status !== 'unknown')
    .filter((operation) => run.calls.every((call) => call.operation_id !== operation.operation_id))
    .map(({ call_id, operation_id, tool, target, attempt, status }) => ({
      call_id,
      operation_id,
      tool,
      target,
      attempt,
      effect: 'side_effect',
      approved: true,
      status: status === 'running' ? 'attached' : 'uncertain',
    }));
}

/** Calls without a result. */
function settleCalls(state: SessionState, run: RunState, open: CallState[], pressure: Pressure): Decision {
  const rejected = open
    .map((call) => rejection(state, run, call))
    .filter((settlement) => settlement !== undefined);
  if (rejected.length > 0) return { do: 'settle', settlements: rejected };
  const asking = open.filter((call) => call.status === 'pending' && needsApproval(state, call));
  if (asking.length > 0) return { do: 'request_approval', calls: asking };
  return inOrder(open, pressure);
}

/** The first open calls: a row of reads together, anything else alone. */
function inOrder(open: CallState[], pressure: Pressure): Decision {
  const [first] = open;
  if (first === undefined || first.status === 'awaiting_approval') {
    return pressure.history_full ? { do: 'roll_over' } : { do: 'wait' };
  }
  if (first.effect !== 'read') return { do: 'run_tools', calls: [first] };
  const end = open.findIndex((call) => call.effect !== 'read' || call.status !== 'pending');
  return { do: 'run_tools', calls: end === -1 ? open : open.slice(0, end) };
}

function needsApproval(state: SessionState, call: CallState): boolean {
  return state.settings.approval === 'ask' && call.effect === 'side_effect' && !call.approved;
}

function rejection(state: SessionState, run: RunState, call: CallState): Settlement | undefined {
  if (run.interrupted_by !== null) {
    return {
      call,
      status: 'cancelled',
      output: interruptedResult(call.attempt, 'the user interrupted the run before this call began.'),
    };
  }
  if (call.problem !== undefined) return { call, status: 'failed', output: call.problem };
  if (state.settings.approval === 'read-only' && call.effect !== 'read') {
    return {
      call,
      status: 'denied',
      output: `Not run: this session is read-only, and ${call.tool} has side effects. Say what you would do instead of doing it.`,
    };
  }
  return undefined;
}

function crashLoop(run: RunState): Decision {
  return {
    do: 'finish_run',
    status: 'failed',
    error: {
      code: 'crash_loop',
      message: `The worker was lost ${run.recoveries} times in a row without one finished step.`,
      remedy: 'Look at the worker log for what ends it, then send a message to go on.',
    },
  };
}
