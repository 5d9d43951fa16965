/** `applyEvent`: how each event changes the session. Pure, exhaustive by type, and bounded by limits.ts. */
import { COMPACTION_FOLDS, NEVER_COMPACTED } from './compaction.ts';
import type { EventOf, EventType, SessionEvent } from './event.ts';
import type { RunError } from './failure.ts';
import { NO_TASK } from './goal.ts';
import { foldTask } from './goalFold.ts';
import {
  CALL_IDS_KEPT,
  FILE_VERSIONS_KEPT,
  FILE_VERSIONS_PATHS_MAX_CHARS,
  MESSAGE_IDS_KEPT,
  RUNS_KEPT,
} from './limits.ts';
import { addUsage, NO_USAGE, type Usage } from './model.ts';
import { projectAfter } from './projectChanges.ts';
import { recover } from './recoveryFold.ts';
import type { CallState, RunState, RunSummary, SessionState } from './session.ts';
import { inRun, kept, withCall } from './stateChanges.ts';
import type { FileVersion } from './tool.ts';

/** The state after `event`. The first event of a session is `session_created`, and only that may be first. */
export function applyEvent(state: SessionState | null, event: SessionEvent): SessionState {
  if (event.type === 'session_created') return created(event);
  if (state === null) throw new Error(`Expected session_created as the first event, found ${event.type}.`);
  const fold = FOLDS[event.type] as (state: SessionState, event: SessionEvent) => SessionState;
  return foldTask(state, { ...fold(state, event), seq: event.seq, updated_at: event.at }, event);
}

type Folds = {
  [T in Exclude<EventType, 'session_created'>]: (state: SessionState, event: EventOf<T>) => SessionState;
};

const FOLDS: Folds = {
  user_message: (state, { message_id, seq, delivery }) => ({
    ...state,
    message_ids: kept([...state.message_ids, message_id], MESSAGE_IDS_KEPT),
    queue: [...state.queue, { message_id, seq, delivery }],
  }),
  run_started: startRun,
  project_loaded: (state, { project }) => ({
    ...inRun(state, (run) => ({ ...run, project_loaded: true })),
    project: projectAfter(state.project, project),
    host_unreachable: false,
  }),
  model_called: (state, { operation_id, through_seq }) => ({
    ...inRun(state, (run) => ({
      ...run,
      step: run.step + 1,
      model_call: { operation_id, through_seq },
      answered: false,
      reply_error: null,
      calls: [],
    })),
    queue: state.queue.filter((message) => message.delivery !== 'steer' || message.seq > through_seq),
  }),
  assistant_message: (state, event) => ({
    ...inRun(state, ({ context: _, compactions: _row, ...run }) => ({
      ...run,
      model_call: null,
      usage: addUsage(run.usage, event.usage ?? NO_USAGE),
      answered: event.tool_calls.length === 0,
      reply_error: replyError(event),
      recoveries: event.tool_calls.length === 0 ? 0 : run.recoveries,
    })),
    context_tokens: totalOf(event.usage ?? event.estimated_usage ?? NO_USAGE),
  }),
  tool_call: (state, { call_id, operation_id, tool, effect, target, problem }) => {
    const call: CallState = {
      call_id,
      operation_id,
      tool,
      effect,
      target,
      status: 'pending',
      approved: false,
      attempt: 1,
    };
    const accepted = problem === undefined ? call : { ...call, problem };
    return {
      ...inRun(state, (run) => ({ ...run, calls: [...run.calls, accepted] })),
      call_ids: kept([...state.call_ids, call_id], CALL_IDS_KEPT),
    };
  },
  approval_requested: (state, { call_id }) => withCall(state, call_id, { status: 'awaiting_approval' }),
  approval_decided: (state, { call_id, decision }) =>
    decision === 'approve' ? withCall(state, call_id, { status: 'pending', approved: true }) : state,
  tool_result: (state, event) => ({
    ...inRun(withCall(state, event.call_id, { status: 'settled' }), (run) => ({
      ...run,
      // Also when it came after a crash: the step is finished, so this is no loop.
      recoveries: 0,
    })),
    file_versions: remember(state.file_versions, event.versions ?? []),
    uncertain: state.uncertain.filter((operation) => operation.operation_id !== event.operation_id),
    host_unreachable: false,
  }),
  tool_recovery: recover,
  interrupt_requested: (state, { by }) => inRun(state, (run) => ({ ...run, interrupted_by: by })),
  run_finished: finishRun,
  // The host has answered, though not with what was hoped for.
  workspace_missing: (state) => ({ ...state, host_unreachable: false }),
  host_unreachable: (state) => ({ ...state, host_unreachable: true }),
  workspace_rebound: (state, { workspace }) => ({ ...state, workspace, host_unreachable: false }),
  session_renamed: (state, { title }) => ({ ...state, title }),
  settings_changed: (state, { settings }) => ({ ...state, settings }),
  // Goal and plan are folded by goalFold.ts, which looks at all events.
  goal_set: (state) => state,
  goal_changed: (state) => state,
  goal_cleared: (state) => state,
  plan_changed: (state) => state,
  session_completed: (state) => ({ ...state, status: 'completed' }),
  session_archived: (state) => ({ ...state, status: 'archived' }),
  session_reopened: (state) => ({ ...state, status: 'active' }),
  ...COMPACTION_FOLDS,
};

function created(event: EventOf<'session_created'>): SessionState {
  return {
    version: 1,
    session_id: event.session_id,
    user_id: event.user_id,
    title: event.title,
    status: 'active',
    workspace: event.workspace,
    settings: event.settings,
    created_at: event.at,
    updated_at: event.at,
    seq: event.seq,
    run: null,
    run_count: 0,
    runs: [],
    queue: [],
    message_ids: [],
    call_ids: [],
    file_versions: [],
    uncertain: [],
    host_unreachable: false,
    project: null,
    ...NO_TASK,
    usage: NO_USAGE,
    ...NEVER_COMPACTED,
  };
}

function startRun(state: SessionState, event: EventOf<'run_started'>): SessionState {
  const number = state.run_count + 1;
  const run_id = event.run_id ?? '';
  const run: RunState = {
    run_id,
    number,
    trigger: event.trigger,
    started_at: event.at,
    usage: NO_USAGE,
    step: 0,
    project_loaded: false,
    model_call: null,
    answered: false,
    reply_error: null,
    calls: [],
    interrupted_by: null,
    recoveries: 0,
  };
  const summary: RunSummary = {
    run_id,
    status: 'running',
    started_at: event.at,
    finished_at: null,
    error: null,
    usage: NO_USAGE,
  };
  return {
    ...state,
    run,
    run_count: number,
    runs: kept([...state.runs, summary], RUNS_KEPT),
    queue: state.queue.filter((message) => !event.message_ids.includes(message.message_id)),
  };
}

function finishRun(state: SessionState, event: EventOf<'run_finished'>): SessionState {
  const { status, error, usage, at, run_id } = event;
  return {
    ...state,
    run: null,
    runs: state.runs.map((run) =>
      run.run_id === run_id ? { ...run, status, error, usage, finished_at: at } : run,
    ),
    usage: addUsage(state.usage, usage),
  };
}

function replyError(event: EventOf<'assistant_message'>): RunError | null {
  if (event.tool_calls.length > 0 || event.text.trim() !== '') return null;
  const why =
    event.finish_reason === 'length'
      ? 'its length limit was reached'
      : `finish reason ${event.finish_reason}`;
  return {
    code: 'model.malformed',
    message: `The model's reply held neither text nor a tool call (${why}).`,
    remedy: 'Send the message again, or choose another model with --model.',
  };
}

function totalOf({ input_tokens, output_tokens }: Usage): number {
  return input_tokens + output_tokens;
}

function remember(versions: FileVersion[], seen: FileVersion[]): FileVersion[] {
  if (seen.length === 0) return versions;
  const paths = new Set(seen.map((version) => version.path));
  const all = [...versions.filter((version) => !paths.has(version.path)), ...seen];
  let chars = 0;
  const tooOld = all.findLastIndex(({ path }) => (chars += path.length) > FILE_VERSIONS_PATHS_MAX_CHARS);
  return kept(all.slice(tooOld + 1), FILE_VERSIONS_KEPT);
}
