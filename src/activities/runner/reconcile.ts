/** What became of a command whose result is missing: the truth table of shell commands. */
import type { Reconciliation } from '../../domain/tool.ts';
import { bootId } from '../../host/process.ts';
import type { Intent } from '../journal/operation.ts';
import {
  endedEvidence,
  lostEvidence,
  NOT_RUN_EVIDENCE,
  rebootEvidence,
  runningEvidence,
  tornEvidence,
} from './evidence.ts';
import { observe } from './observe.ts';
import { commandOutcome, type OutcomeContext } from './outcome.ts';
import type { CommandPlan, CommandProofs, Gate, GateEntry } from './proofs.ts';

/** How far an attempt came: a row of the truth table is chosen by it. */
export interface StartCases<Plan> {
  /** Its runner came through the gate. */
  entered: (gate: GateEntry, intent: Intent<Plan>) => Promise<Reconciliation>;
  /** Nothing says that it was begun, but the machine was restarted since, so the record may be lost. */
  rebooted?: (intent: Intent<Plan>) => Promise<Reconciliation>;
  /** Something came through the gate, and what it wrote there is not whole. */
  torn?: (intent: Intent<Plan>) => Promise<Reconciliation>;
}

/**
 * Looks, and shuts the gate if nobody came through it. Rejects with the file system's errors only; a proof
 * that is there and can't be understood is `unknown`, with its name.
 */
export async function reconcileCommand(
  proofs: CommandProofs,
  context: OutcomeContext,
): Promise<Reconciliation> {
  return reconcileStart<CommandPlan>(proofs, {
    entered: async (gate, intent) => entered(proofs, gate, intent, context),
  });
}

/** The part that all tools with a runner share: was it begun? Rejects as reconcileCommand does. */
export async function reconcileStart<Plan>(
  proofs: CommandProofs,
  cases: StartCases<Plan>,
): Promise<Reconciliation> {
  try {
    // The gate first: from here on, what did not begin can't begin any more.
    const closed = (await proofs.record.closeGate(proofs.attempt)) === 'closed';
    const intent = await proofs.readIntent<Plan>();
    const gate = closed ? undefined : await proofs.settledGate();
    if (gate === undefined || gate.state === 'closed') return await notEntered(proofs, intent, cases);
    return await begun(proofs, gate, intent, cases);
  } catch (error) {
    if (!(error instanceof Error) || 'code' in error) throw error;
    return { status: 'unknown', evidence: `What became of the command is not known. ${error.message}` };
  }
}

async function begun<Plan>(
  proofs: CommandProofs,
  gate: Gate,
  intent: Intent<Plan> | undefined,
  cases: StartCases<Plan>,
): Promise<Reconciliation> {
  if (gate.state === 'entered' && intent !== undefined) return cases.entered(gate, intent);
  // The intent is durable before a runner exists: without one, the torn gate is a reconciler's.
  if (gate.state === 'torn' && intent === undefined) return notEntered(proofs, intent, cases);
  if (intent !== undefined && cases.torn !== undefined) return cases.torn(intent);
  return { status: 'unknown', evidence: await tornEvidence(proofs, intent) };
}

async function notEntered<Plan>(
  proofs: CommandProofs,
  intent: Intent<Plan> | undefined,
  cases: StartCases<Plan>,
): Promise<Reconciliation> {
  if (intent === undefined || intent.boot === (await bootId())) {
    return { status: 'not_run', evidence: NOT_RUN_EVIDENCE };
  }
  return (
    (await cases.rebooted?.(intent)) ?? { status: 'unknown', evidence: await rebootEvidence(proofs, intent) }
  );
}

async function entered(
  proofs: CommandProofs,
  gate: GateEntry,
  intent: Intent<CommandPlan>,
  context: OutcomeContext,
): Promise<Reconciliation> {
  const now = await observe(proofs);
  switch (now.state) {
    case 'ended':
      return {
        status: 'completed',
        evidence: endedEvidence(now),
        outcome: await commandOutcome(proofs, intent.plan, now, context),
      };
    case 'running':
      return { status: 'running', evidence: await runningEvidence(proofs, now.gate, now.stop) };
    default:
      return { status: 'unknown', evidence: await lostEvidence(proofs, gate) };
  }
}
