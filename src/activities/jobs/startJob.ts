/** Starts a command that nobody waits for, and finds out afterwards whether it was started. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Reconciliation, ToolOutcome } from '../../domain/tool.ts';
import { Fenced } from '../journal/operation.ts';
import { CommandProofs, type GateEntry } from '../runner/proofs.ts';
import { reconcileStart } from '../runner/reconcile.ts';
import { startRunner, type RunnerChild } from '../runner/start.ts';
import { RunnerLost, throwOnShutdown } from '../runner/wait.ts';
import type { ToolContext } from '../tools/tool.ts';
import type { JobPlan } from './sessionJobs.ts';

const LOOK_EVERY_MS = 5;

/** Resolves once the command runs, or with `cancelled` when an interrupt came first. */
export async function startJob(command: string, context: ToolContext): Promise<ToolOutcome> {
  throwOnShutdown(context.signal);
  if (context.signal.aborted) return notStarted();
  const proofs = new CommandProofs(context.operation, context.attempt);
  const plan: JobPlan = { command, cwd: context.workspace, background: true };
  await context.operation.recordIntent('bash', context.attempt, plan);
  const child = await startRunner(proofs, plan, context.env);
  const gate = await waitForStart(proofs, child, context.signal);
  return gate === undefined ? notStarted() : startedOutcome(gate, context);
}

/** The start is all that the call does: whatever became of the job since, a start is a completed call. */
export function reconcileJobStart(context: ToolContext): Promise<Reconciliation> {
  return reconcileStart<JobPlan>(new CommandProofs(context.operation, context.attempt), {
    entered: (gate) =>
      Promise.resolve({
        status: 'completed',
        evidence: `The job was started at ${gate.at.toISOString()} by runner process ${gate.runner.pid}. Starting it is all that this call does; what became of it says job_status.`,
        outcome: startedOutcome(gate, context),
      }),
  });
}

/** Undefined: an interrupt came first, and the command can't begin any more. */
async function waitForStart(
  proofs: CommandProofs,
  child: RunnerChild,
  signal: AbortSignal,
): Promise<GateEntry | undefined> {
  const { operation_id } = proofs.record;
  for (;;) {
    const child_ended = await Promise.race([child.ended.then(() => true), delay(LOOK_EVERY_MS, false)]);
    const gate = await proofs.settledGate();
    if (gate.state === 'entered') return gate;
    if (gate.state === 'closed') throw new Fenced(operation_id, proofs.attempt);
    if (gate.state === 'torn' || child_ended)
      throw new RunnerLost(operation_id, `its gate is ${gate.state} and it is gone`);
    throwOnShutdown(signal);
    if (signal.aborted && (await proofs.record.closeGate(proofs.attempt)) === 'closed') return undefined;
  }
}

/** Built from the proofs alone: the same words after a crash. */
function startedOutcome(gate: GateEntry, context: ToolContext): ToolOutcome {
  const job_id = context.jobs.idOf(context.operation.operation_id);
  const named = JSON.stringify({ job_id });
  return {
    status: 'success',
    output: [
      `[job ${job_id} started at ${gate.at.toISOString()}: process ${gate.runner.pid}]`,
      `It runs by itself, without a time-out, until it ends or job_stop ends it. See how it is with job_status ${named}, read its output with job_output ${named}.`,
    ].join('\n'),
  };
}

function notStarted(): ToolOutcome {
  return { status: 'cancelled', output: '[The job was not started: the run was interrupted first.]' };
}
