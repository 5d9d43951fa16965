/**
 * Tool calls: run, reconcile, attach. Each result is recorded when it ends, whatever happens to the calls
 * beside it. A call that may have begun and has no result becomes uncertain; it is never run again unless
 * its own tool says that it was not run.
 */
import type { ToolInput } from '../activities/contract.ts';
import type { CallState } from '../domain/session.ts';
import type { Reconciliation, ToolOutcome } from '../domain/tool.ts';
import { describeFailure, isInterrupt, neverStarted, typeOf } from './failures.ts';
import type { SessionMachine } from './machine.ts';
import { hostActivities } from './proxies.ts';

/** Runs calls side by side. */
export async function runTools(machine: SessionMachine, calls: CallState[]): Promise<void> {
  await Promise.all(calls.map(async (call) => runOne(machine, call)));
}

/** Asks each call's own tool what became of it. */
export async function reconcileTools(machine: SessionMachine, calls: CallState[]): Promise<void> {
  await Promise.all(calls.map(async (call) => reconcileOne(machine, call)));
}

/** Waits for calls that still run, or stops them. */
export async function attachTools(machine: SessionMachine, calls: CallState[], stop: boolean): Promise<void> {
  await Promise.all(calls.map(async (call) => attachOne(machine, call, stop)));
}

async function runOne(machine: SessionMachine, call: CallState): Promise<void> {
  const { once, reading } = hostActivities(machine.state.workspace.host);
  const { runTool } = call.effect === 'read' ? reading : once;
  try {
    recordOutcome(machine, call, await runTool.executeWithOptions(summary(call), [inputOf(machine, call)]));
  } catch (error) {
    recordFailure(machine, call, error);
  }
}

async function reconcileOne(machine: SessionMachine, call: CallState): Promise<void> {
  const { looking } = hostActivities(machine.state.workspace.host);
  try {
    const found = await looking.reconcileTool.executeWithOptions(summary(call), [inputOf(machine, call)]);
    recordReconciliation(machine, call, found);
  } catch (error) {
    // Interrupted while looking: it stays uncertain, and nextStep looks again.
    if (!isInterrupt(error))
      recordReconciliation(machine, call, { status: 'unknown', evidence: describeFailure(error) });
  }
}

async function attachOne(machine: SessionMachine, call: CallState, stop: boolean): Promise<void> {
  const { waiting } = hostActivities(machine.state.workspace.host);
  try {
    const input = { ...inputOf(machine, call), stop };
    recordOutcome(machine, call, await waiting.attachTool.executeWithOptions(summary(call), [input]), true);
  } catch (error) {
    // Not taken by any worker yet when the interrupt came: nextStep attaches again, to stop it.
    if (!isInterrupt(error)) recordUncertain(machine, call, describeFailure(error));
  }
}

function recordOutcome(
  machine: SessionMachine,
  call: CallState,
  outcome: ToolOutcome,
  recovered = false,
): void {
  const { call_id, operation_id } = call;
  machine.emit({
    type: 'tool_result',
    call_id,
    operation_id,
    ...outcome,
    ...(recovered ? { recovered: true as const } : {}),
  });
}

function recordFailure(machine: SessionMachine, call: CallState, error: unknown): void {
  if (isInterrupt(error) || neverStarted(error)) {
    recordOutcome(machine, call, {
      status: 'cancelled',
      output: 'Not run: no worker had taken this call when the run was interrupted.',
    });
  } else if (typeOf(error) === 'workspace.not_found') {
    const { workspace } = machine.state;
    machine.emit({ type: 'workspace_missing', workspace });
    recordOutcome(machine, call, { status: 'failed', output: `Not run: ${describeFailure(error)}` });
  } else {
    recordUncertain(machine, call, describeFailure(error));
  }
}

function recordUncertain(
  machine: SessionMachine,
  { call_id, operation_id }: CallState,
  evidence: string,
): void {
  machine.emit({ type: 'tool_recovery', call_id, operation_id, status: 'uncertain', evidence, by: 'tool' });
}

function recordReconciliation(machine: SessionMachine, call: CallState, found: Reconciliation): void {
  const { call_id, operation_id } = call;
  const { status, evidence } = found;
  machine.emit({ type: 'tool_recovery', call_id, operation_id, status, evidence, by: 'tool' });
  if (found.status === 'completed') recordOutcome(machine, call, found.outcome, true);
}

function inputOf(machine: SessionMachine, { call_id, operation_id, attempt }: CallState): ToolInput {
  const { session_id, seq } = machine.state;
  return { session_id, call_id, operation_id, through_seq: seq, attempt };
}

/** How the Web UI names the activity. */
function summary({ tool, target }: CallState): { summary: string } {
  return { summary: `${tool}: ${target}`.slice(0, 200) };
}
