/** Performs one decision and emits what came of it. */
import { patched } from '@temporalio/workflow';
import type { CallModelResult, CheckedCall } from '../activities/contract.ts';
import { contextWindow } from '../domain/contextWindow.ts';
import type { ModelToolCall } from '../domain/model.ts';
import { operationId, runId } from '../domain/ids.ts';
import { projectChanges } from '../domain/projectChanges.ts';
import type { Decision, Settlement } from '../domain/step.ts';
import { isInterrupt, isLoss, runErrorOf, typeOf } from './failures.ts';
import type { SessionMachine } from './machine.ts';
import { compact } from './compact.ts';
import { attachTools, reconcileTools, runTools } from './performTools.ts';
import { onHost } from './onHost.ts';
import { modelActivities } from './proxies.ts';
import { changeGoal, settleKept } from './taskState.ts';

/** The decisions that act within a session; the others belong to its main loop. */
export type Action = Exclude<Decision, { do: 'wait' | 'roll_over' | 'close' }>;

/** Returns when everything that the decision started has been recorded. Never rejects for what it started. */
export async function perform(machine: SessionMachine, action: Action): Promise<void> {
  const performer = PERFORMERS[action.do] as (
    machine: SessionMachine,
    action: Action,
  ) => void | Promise<void>;
  await performer(machine, action);
}

type Performers = {
  [D in Action['do']]: (machine: SessionMachine, action: Extract<Action, { do: D }>) => void | Promise<void>;
};

const PERFORMERS: Performers = {
  start_run: (machine, { do: _, ...start }) => {
    const run_id = runId(machine.state.session_id, machine.state.run_count + 1);
    machine.emit({ type: 'run_started', ...start }, run_id);
  },
  change_goal: changeGoal,
  load_project: loadProject,
  call_model: callModel,
  compact: async (machine, action) => compact(machine, action),
  request_approval: (machine, { calls }) => {
    for (const { call_id } of calls) machine.emit({ type: 'approval_requested', call_id });
  },
  settle: (machine, { settlements }) => {
    for (const settlement of settlements) settle(machine, settlement);
  },
  run_tools: async (machine, { calls }) => runTools(machine, calls),
  reconcile: async (machine, { calls }) => reconcileTools(machine, calls),
  attach: async (machine, { calls, stop }) => attachTools(machine, calls, stop),
  finish_run: (machine, { status, error }) => finishRun(machine, status, error),
};

function finishRun(
  machine: SessionMachine,
  status: 'success' | 'failed' | 'interrupted',
  error: Extract<Action, { do: 'finish_run' }>['error'],
): void {
  const { run } = machine.state;
  if (run !== null) machine.emit({ type: 'run_finished', status, error, usage: run.usage });
}

function settle(machine: SessionMachine, { call, status, output }: Settlement): void {
  const { call_id, operation_id } = call;
  machine.emit({ type: 'tool_result', call_id, operation_id, status, output });
}

async function loadProject(machine: SessionMachine): Promise<void> {
  const { workspace, project: known } = machine.state;
  const known_digest = known === null ? {} : { known_digest: known.digest };
  try {
    const project = await onHost(machine, async ({ looking }) =>
      looking.loadProject({ workspace: machine.state.workspace, ...known_digest }),
    );
    const changes = projectChanges(known, project);
    machine.emit({ type: 'project_loaded', project, ...(changes.length === 0 ? {} : { changes }) });
  } catch (error) {
    if (isInterrupt(error)) return;
    if (typeOf(error) === 'workspace.not_found') machine.emit({ type: 'workspace_missing', workspace });
    finishRun(machine, 'failed', runErrorOf(error));
  }
}

async function callModel(
  machine: SessionMachine,
  action: Extract<Action, { do: 'call_model' }>,
): Promise<void> {
  const { do: _, ...call } = action;
  const { session_id, settings } = machine.state;
  const { operation_id, through_seq } = call;
  machine.emit({ type: 'model_called', operation_id, model: settings.model, through_seq });
  try {
    const reply = await modelActivities.callModel.executeWithOptions({ summary: settings.model }, [
      { session_id, ...call },
    ]);
    if ('context_full' in reply)
      machine.emit({ type: 'context_full', operation_id, ...reply.context_full, by: 'count' });
    else record(machine, operation_id, reply);
  } catch (error) {
    recordModelFailure(machine, action, error);
  }
}

function recordModelFailure(
  machine: SessionMachine,
  { operation_id, unchecked }: Extract<Action, { do: 'call_model' }>,
  error: unknown,
): void {
  const { run, settings } = machine.state;
  // Interrupted: nextStep ends the run, also where the worker was lost before it could say that it stopped.
  if (isInterrupt(error) || run?.interrupted_by != null) return;
  if (typeOf(error) === 'model.context_too_long' && unchecked === undefined && patched(COMPACTION)) {
    const window = contextWindow(settings);
    machine.emit({ type: 'context_full', operation_id, tokens: null, window, by: 'provider' });
    return;
  }
  finishRun(machine, 'failed', isLoss(error) ? LOST_AT_MODEL : runErrorOf(error));
}

/** Sessions of before it failed where they now summarise. */
const COMPACTION = 'compaction';

/** All attempts of a model call are used up, the last by a lost worker: a crash loop, and no fault of the model's. */
const LOST_AT_MODEL = {
  code: 'crash_loop',
  message: 'The worker was lost again and again during one model call, until its attempts were used up.',
  remedy: 'Look at the worker log for what ends it, then send a message to go on.',
};

/** Records a reply and accepts its calls, each under an id that no other call of the session has. */
function record(machine: SessionMachine, operation_id: string, reply: CallModelResult): void {
  const { run, call_ids } = machine.state;
  if (run === null) return;
  const taken = new Set(call_ids);
  const named = reply.calls.map((call, index) => {
    const own = operationId(run.run_id, run.step, index + 1);
    const call_id = call.call_id === '' || taken.has(call.call_id) ? `call_${own}` : call.call_id;
    taken.add(call_id);
    return { call: { ...call, call_id }, operation_id: own };
  });
  machine.emit({
    type: 'assistant_message',
    operation_id,
    text: reply.text,
    reasoning: reply.reasoning,
    tool_calls: named.map(({ call }) => asModelCall(call)),
    finish_reason: reply.finish_reason,
    usage: reply.usage,
    ...(reply.estimated_usage === undefined ? {} : { estimated_usage: reply.estimated_usage }),
    context_digest: reply.context_digest,
    ...(reply.notes.length === 0 ? {} : { notes: reply.notes }),
  });
  for (const { call, operation_id: own } of named) {
    const { call_id, tool, effect, target, problem } = call;
    const args: unknown = problem === undefined ? JSON.parse(call.arguments.trim() || '{}') : null;
    machine.emit({
      type: 'tool_call',
      call_id,
      operation_id: own,
      tool,
      args,
      effect,
      target,
      ...(problem === undefined ? {} : { problem }),
    });
    if (problem === undefined) settleKept(machine, { call_id, operation_id: own, tool, args });
  }
}

function asModelCall({ call_id, tool, arguments: text }: CheckedCall): ModelToolCall {
  return { call_id, tool, arguments: text };
}
