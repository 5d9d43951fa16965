/**
 * Tool calls: run, reconcile, attach. Each result is recorded when it ends, whatever happens to the calls
 * beside it. A call that may have begun and has no result becomes uncertain; it is never run again unless
 * its own tool says that it was not run.
 */
import { sleep } from '@temporalio/workflow';
import type { ToolInput } from '../activities/contract.ts';
import { interruptedResult } from '../domain/evidence.ts';
import type { CallState } from '../domain/session.ts';
import type { Reconciliation, ToolOutcome } from '../domain/tool.ts';
import { describeFailure, isInterrupt, typeOf } from './failures.ts';
import type { SessionMachine } from './machine.ts';
import { onHost } from './onHost.ts';

/** Runs calls side by side. */
export async function runTools(machine: SessionMachine, calls: CallState[]): Promise<void> {
  await Promise.all(calls.map(async (call) => runOne(machine, call)));
}

/**
 * Asks each call's own tool what became of it. Recoveries in a row are spaced out: what takes the worker
 * down each time must not do so at full speed.
 */
export async function reconcileTools(machine: SessionMachine, calls: CallState[]): Promise<void> {
  const { run } = machine.state;
  const before = (run?.recoveries ?? 0) - 1;
  try {
    if (before > 0 && run?.interrupted_by === null) await sleep(BACK_OFF_MS * 2 ** (before - 1));
  } catch (error) {
    // An interrupt: nextStep decides anew.
    if (isInterrupt(error)) return;
    throw error;
  }
  await Promise.all(calls.map(async (call) => reconcileOne(machine, call)));
}

const BACK_OFF_MS = 500;

/** Waits for calls that still run, or stops them. */
export async function attachTools(machine: SessionMachine, calls: CallState[], stop: boolean): Promise<void> {
  await Promise.all(calls.map(async (call) => attachOne(machine, call, stop)));
}

async function runOne(machine: SessionMachine, call: CallState): Promise<void> {
  try {
    const outcome = await onHost(machine, async ({ once, reading }) => {
      const { runTool } = call.effect === 'read' ? reading : once;
      return runTool.executeWithOptions(summary(call), [inputOf(machine, call)]);
    });
    recordOutcome(machine, call, outcome);
  } catch (error) {
    recordFailure(machine, call, error);
  }
}

async function reconcileOne(machine: SessionMachine, call: CallState): Promise<void> {
  try {
    const found = await onHost(machine, async ({ looking }) =>
      looking.reconcileTool.executeWithOptions(summary(call), [inputOf(machine, call)]),
    );
    recordReconciliation(machine, call, found);
  } catch (error) {
    // Interrupted while looking: it stays uncertain, and nextStep looks again.
    if (isInterrupt(error)) return;
    recordReconciliation(machine, call, { status: 'unknown', evidence: describeFailure(error) });
  }
}

async function attachOne(machine: SessionMachine, call: CallState, stop: boolean): Promise<void> {
  try {
    const outcome = await onHost(machine, async ({ waiting }) =>
      waiting.attachTool.executeWithOptions(summary(call), [{ ...inputOf(machine, call), stop }]),
    );
    recordOutcome(machine, call, outcome, true);
  } catch (error) {
    // Not taken by any worker yet when the interrupt came: nextStep attaches again, to stop it.
    if (!isInterrupt(error) && !isSettled(machine, call))
      recordUncertain(machine, call, describeFailure(error));
  }
}

/** A person may have settled the call while its tool was being asked; that word stands. */
function isSettled(machine: SessionMachine, { operation_id }: CallState): boolean {
  const { run, uncertain } = machine.state;
  const call = run?.calls.find((candidate) => candidate.operation_id === operation_id);
  if (call !== undefined) return call.status === 'settled';
  return uncertain.every((operation) => operation.operation_id !== operation_id);
}

function recordOutcome(
  machine: SessionMachine,
  call: CallState,
  outcome: ToolOutcome,
  recovered = false,
): void {
  if (!isSettled(machine, call)) emitResult(machine, call, outcome, recovered);
}

function emitResult(
  machine: SessionMachine,
  { call_id, operation_id }: CallState,
  outcome: ToolOutcome,
  recovered: boolean,
): void {
  machine.emit({
    type: 'tool_result',
    call_id,
    operation_id,
    ...outcome,
    ...(recovered ? { recovered: true as const } : {}),
  });
}

function recordFailure(machine: SessionMachine, call: CallState, error: unknown): void {
  if (isInterrupt(error)) {
    recordOutcome(machine, call, {
      status: 'cancelled',
      output: interruptedResult(call.attempt, 'no worker had taken this call when the run was interrupted.'),
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
  if (isSettled(machine, call)) return;
  const { call_id, operation_id } = call;
  const { status, evidence } = found;
  machine.emit({ type: 'tool_recovery', call_id, operation_id, status, evidence, by: 'tool' });
  if (found.status === 'completed') emitResult(machine, call, found.outcome, true);
}

function inputOf(machine: SessionMachine, { call_id, operation_id, attempt }: CallState): ToolInput {
  const { session_id, seq } = machine.state;
  return { session_id, call_id, operation_id, through_seq: seq, attempt };
}

/** How the Web UI names the activity. */
function summary({ tool, target }: CallState): { summary: string } {
  return { summary: `${tool}: ${target}`.slice(0, 200) };
}
