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
import type { CommandPlan, CommandProofs } from './proofs.ts';

/**
 * Looks, and shuts the gate if nobody came through it. Rejects with the file system's errors only; a proof
 * that is there and can't be understood is `unknown`, with its name.
 */
export async function reconcileCommand(
  proofs: CommandProofs,
  context: OutcomeContext,
): Promise<Reconciliation> {
  try {
    // The gate first: from here on, what did not begin can't begin any more.
    const gate = await proofs.record.closeGate(proofs.attempt);
    const intent = await proofs.readIntent();
    return gate === 'closed' ? await notEntered(proofs, intent) : await entered(proofs, intent, context);
  } catch (error) {
    if (!(error instanceof Error) || 'code' in error) throw error;
    return { status: 'unknown', evidence: `What became of the command is not known. ${error.message}` };
  }
}

async function notEntered(
  proofs: CommandProofs,
  intent: Intent<CommandPlan> | undefined,
): Promise<Reconciliation> {
  if (intent !== undefined && intent.boot !== (await bootId())) {
    return { status: 'unknown', evidence: await rebootEvidence(proofs, intent) };
  }
  return { status: 'not_run', evidence: NOT_RUN_EVIDENCE };
}

async function entered(
  proofs: CommandProofs,
  intent: Intent<CommandPlan> | undefined,
  context: OutcomeContext,
): Promise<Reconciliation> {
  const gate = await proofs.settledGate();
  if (gate.state === 'closed') return notEntered(proofs, intent);
  // The intent is durable before a runner exists: without one, the torn gate is a reconciler's.
  if (gate.state === 'torn' && intent === undefined) return notEntered(proofs, intent);
  if (gate.state !== 'entered' || intent === undefined) {
    return { status: 'unknown', evidence: await tornEvidence(proofs, intent) };
  }
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
