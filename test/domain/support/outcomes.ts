/**
 * How decisions are performed in a simulated session: what workflows/perform.ts and performTools.ts emit is
 * emitted here in the same form, for outcomes that the tape chooses.
 */
import { cutsOf, isVisible, keptBeside, NOTHING_TO_SUMMARISE } from '../../../src/domain/compaction.ts';
import type { EventBody, LoadedProject, ProjectFacts, RecoveryStatus } from '../../../src/domain/event.ts';
import { operationId, runId } from '../../../src/domain/ids.ts';
import { keepCall, type UpdateGoal, type UpdatePlan } from '../../../src/domain/keptTools.ts';
import { NO_USAGE } from '../../../src/domain/model.ts';
import { projectChanges } from '../../../src/domain/projectChanges.ts';
import type { CallState, SessionState } from '../../../src/domain/session.ts';
import type { Decision } from '../../../src/domain/step.ts';
import type { EffectClass, FileVersion, ToolStatus } from '../../../src/domain/tool.ts';
import type { Simulation } from './simulation.ts';

const EFFECTS: EffectClass[] = ['side_effect', 'read', 'idempotent'];
const FOUND: RecoveryStatus[] = ['completed', 'unknown', 'not_run', 'running'];
/** What models call their calls: nothing, the same again, or the same as in another reply. */
const MODEL_IDS = ['c0', 'c1', 'c1', ''];

type Performers = {
  [D in Decision['do']]: (session: Simulation, decision: Extract<Decision, { do: D }>) => void;
};

/** Performs one decision. */
export function play(session: Simulation, decision: Decision): void {
  const perform = PERFORMERS[decision.do] as (session: Simulation, decision: Decision) => void;
  perform(session, decision);
}

const PERFORMERS: Performers = {
  wait: (session, { until }) => {
    if (until !== undefined) session.sleepUntil(until);
  },
  change_goal: (session, { status, by, note }) =>
    session.emit({ type: 'goal_changed', by, status, ...(note === undefined ? {} : { note }) }),
  close: () => {},
  roll_over: (session) => {
    // Continue-as-new carries the state through a payload.
    session.state = JSON.parse(JSON.stringify(session.state)) as SessionState;
    session.full = false;
  },
  start_run: (session, { do: _, ...start }) => {
    const run_id = runId(session.state.session_id, session.state.run_count + 1);
    session.emit({ type: 'run_started', ...start }, run_id);
  },
  load_project: loadProject,
  call_model: callModel,
  compact,
  request_approval: (session, { calls }) => {
    for (const { call_id } of calls) session.emit({ type: 'approval_requested', call_id });
  },
  settle: (session, { settlements }) => {
    for (const { call, status, output } of settlements) result(session, call, status, output);
  },
  run_tools: (session, { calls }) => {
    for (const call of calls) runTool(session, call);
  },
  reconcile: (session, { calls }) => {
    for (const call of calls) reconcile(session, call);
  },
  attach: (session, { calls }) => {
    for (const call of calls) attach(session, call);
  },
  finish_run: (session, { status, error }) => finish(session, status, error),
};

type Finish = Extract<Decision, { do: 'finish_run' }>;

function finish(session: Simulation, status: Finish['status'], error: Finish['error']): void {
  const { run } = session.state;
  if (run !== null) session.emit({ type: 'run_finished', status, error, usage: run.usage });
}

function loadProject(session: Simulation): void {
  session.signals();
  const outcome = session.choose('loaded', 'loaded', 'loaded', 'missing', 'unreachable');
  const { workspace } = session.state;
  if (outcome === 'unreachable') session.emit({ type: 'host_unreachable', host: workspace.host });
  if (outcome !== 'missing') return session.emit(projectLoaded(session));
  session.emit({ type: 'workspace_missing', workspace });
  finish(session, 'failed', { code: 'workspace.not_found', message: 'gone', remedy: 'rebind' });
}

/** As `loadProject` of workflows/perform.ts, or as it was recorded before runs were compared. */
function projectLoaded(session: Simulation): EventBody {
  const known = session.state.project;
  const project = projectAs(session.choose('one', 'one', 'two'));
  const form = session.choose('now', 'now', 'old');
  if (form === 'old') return { type: 'project_loaded', project };
  const { digest, date, platform } = project;
  const found: LoadedProject =
    known?.digest === digest ? { digest, date, platform, unchanged: true } : { ...project, unchanged: false };
  const changes = projectChanges(known, found);
  return { type: 'project_loaded', project: found, ...(changes.length === 0 ? {} : { changes }) };
}

/** Its digest is its text, so that the one tells whether the other is right. */
function projectAs(text: string): ProjectFacts {
  const instructions = [{ path: 'AGENTS.md', text }];
  return { digest: text, instructions, date: '2026-03-01', platform: 'linux x64' };
}

function callModel(
  session: Simulation,
  { operation_id, through_seq, unchecked }: Extract<Decision, { do: 'call_model' }>,
): void {
  session.emit({ type: 'model_called', operation_id, model: session.state.settings.model, through_seq });
  session.signals();
  const outcome = session.choose('answer', 'calls', 'calls', 'calls', 'empty', 'failure', 'full');
  // The interrupt was faster than the reply.
  if (session.interrupted && session.pick(2) === 1) return;
  const code = session.choose('model.unavailable', 'model.auth', 'model.quota_exhausted');
  const error = { code, message: 'down', remedy: 'wait' };
  if (outcome === 'full' && !unchecked)
    return session.emit({ type: 'context_full', operation_id, tokens: 9, window: 10, by: 'count' });
  if (outcome === 'failure') return finish(session, 'failed', error);
  reply(session, operation_id, outcome === 'answer' ? `answer ${operation_id}` : '', outcome === 'calls');
}

/** As workflows/compact.ts; the cut is any that there is, and not the one that would be chosen. */
function compact(session: Simulation, { operation_id }: Extract<Decision, { do: 'compact' }>): void {
  const { state, events } = session;
  const visible = events.filter((event) => isVisible(state.summary, event));
  const cuts = cutsOf(state, visible, () => 1);
  const outcome = session.choose('made', 'made', 'made', 'failed');
  const cut = cuts[session.pick(Math.max(1, cuts.length))];
  const made = cut === undefined ? undefined : keptBeside(state, visible, cut.through_seq);
  session.signals();
  const code = outcome === 'failed' ? 'model.unavailable' : NOTHING_TO_SUMMARISE;
  if (outcome === 'failed' || cut === undefined || made === undefined)
    return session.emit({
      type: 'compaction_failed',
      operation_id,
      error: { code, message: '', remedy: '' },
    });
  const { through_seq } = cut;
  const sizes = { tokens_before: 2, tokens_after: 1, usage: null };
  session.emit({ type: 'summary_created', operation_id, through_seq, text: 'summary', ...made, ...sizes });
}

/** As `record` of workflows/perform.ts. */
function reply(session: Simulation, operation_id: string, text: string, calling: boolean): void {
  const calls = calling ? nameCalls(session) : [];
  session.emit({
    type: 'assistant_message',
    operation_id,
    text,
    reasoning: null,
    tool_calls: calls.map(({ call_id }) => ({ call_id, tool: 'tool', arguments: '{}' })),
    finish_reason: calling ? 'tool_calls' : 'stop',
    usage: { ...NO_USAGE, input_tokens: 1 },
    context_digest: '',
  });
  for (const call of calls) {
    const kept = session.pick(5);
    if (kept > 2) {
      keep(session, call, kept === 3 ? 'update_plan' : 'update_goal');
      continue;
    }
    const effect = session.choose(...EFFECTS);
    const tool = session.choose('tool', 'bash', 'git_commit');
    const problem = session.pick(8) === 7 ? { problem: 'no such tool' } : {};
    session.emit({ type: 'tool_call', ...call, tool, args: null, effect, target: 'it', ...problem });
  }
}

/** As `settleKept` of workflows/taskState.ts. */
function keep(session: Simulation, call: { call_id: string; operation_id: string }, tool: string): void {
  const args = tool === 'update_plan' ? anyPlan(session) : anyGoal(session);
  session.emit({ type: 'tool_call', ...call, tool, args, effect: 'read', target: 'it' });
  const kept = keepCall(session.state, tool, args);
  if (kept === undefined) throw new Error(`Expected ${tool} to be kept, found that it is not.`);
  for (const change of kept.changes) session.emit(change);
  session.emit({ type: 'tool_result', ...call, status: kept.status, output: kept.output });
}

function anyPlan(session: Simulation): UpdatePlan {
  const status = session.choose('pending' as const, 'in_progress' as const, 'completed' as const);
  return {
    steps: Array.from({ length: session.pick(3) }, (_, index) => ({ step: `step ${index}`, status })),
  };
}

function anyGoal(session: Simulation): UpdateGoal {
  const status = session.choose(
    'active' as const,
    'active' as const,
    'complete' as const,
    'blocked' as const,
  );
  const wait = session.pick(2) === 0 ? {} : { wait_seconds: session.pick(900) };
  return { status, note: `note ${session.pick(3)}`, ...wait };
}

function nameCalls(session: Simulation): { call_id: string; operation_id: string }[] {
  const { run, call_ids } = session.state;
  if (run === null) throw new Error('Expected a run, found none.');
  const taken = new Set(call_ids);
  return Array.from({ length: 1 + session.pick(3) }, (_, index) => {
    const id = session.choose(...MODEL_IDS);
    const operation_id = operationId(run.run_id, run.step, index + 1);
    const call_id = id === '' || taken.has(id) ? `call_${operation_id}` : id;
    taken.add(call_id);
    return { call_id, operation_id };
  });
}

function runTool(session: Simulation, call: CallState): void {
  session.signals();
  const outcome = session.choose('success', 'success', 'failed', 'lost', 'lost', 'missing', 'unreachable');
  const { workspace } = session.state;
  if (outcome === 'lost') return recover(session, call, 'uncertain');
  if (outcome === 'missing') session.emit({ type: 'workspace_missing', workspace });
  if (outcome === 'unreachable') session.emit({ type: 'host_unreachable', host: workspace.host });
  if (isSettled(session.state, call)) return;
  const failed = outcome === 'failed' || outcome === 'missing';
  const versions = session.pick(3) === 2 ? { versions: [{ path: 'f', version: `${session.pick(4)}` }] } : {};
  result(session, call, failed ? 'failed' : 'success', `ran ${call.operation_id}`, versions);
}

function reconcile(session: Simulation, call: CallState): void {
  if (isCutShort(session) || isSettled(session.state, call)) return;
  const found = session.choose(...FOUND);
  recover(session, call, found);
  if (found === 'completed')
    result(session, call, 'success', `found ${call.operation_id}`, { recovered: true });
}

function attach(session: Simulation, call: CallState): void {
  if (isCutShort(session) || isSettled(session.state, call)) return;
  if (session.pick(4) === 3) return recover(session, call, 'uncertain');
  result(session, call, 'success', `waited for ${call.operation_id}`, { recovered: true });
}

/** Whether an interrupt came while an activity only looked or waited, and was faster than its answer. */
function isCutShort(session: Simulation): boolean {
  const before = session.interrupted;
  session.signals();
  return session.interrupted !== before && session.pick(2) === 1;
}

function isSettled({ run, uncertain }: SessionState, { operation_id }: CallState): boolean {
  const call = run?.calls.find((candidate) => candidate.operation_id === operation_id);
  if (call !== undefined) return call.status === 'settled';
  return uncertain.every((operation) => operation.operation_id !== operation_id);
}

function recover(session: Simulation, { call_id, operation_id }: CallState, status: RecoveryStatus): void {
  const evidence = `looked at ${operation_id}`;
  session.emit({ type: 'tool_recovery', call_id, operation_id, status, evidence, by: 'tool' });
}

function result(
  session: Simulation,
  { call_id, operation_id }: CallState,
  status: ToolStatus,
  output: string,
  more: { recovered?: true; versions?: FileVersion[] } = {},
): void {
  session.emit({ type: 'tool_result', call_id, operation_id, status, output, ...more });
}
