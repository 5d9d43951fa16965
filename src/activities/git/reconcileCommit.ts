/** What became of a commit whose result is missing: the truth table of git_commit. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Reconciliation } from '../../domain/tool.ts';
import type { Intent } from '../journal/operation.ts';
import { endedEvidence, runningEvidence } from '../runner/evidence.ts';
import { observe } from '../runner/observe.ts';
import { listGroup } from '../runner/processes.ts';
import { CommandProofs, elapsedMs, type GateEntry } from '../runner/proofs.ts';
import { reconcileStart } from '../runner/reconcile.ts';
import { stopProcesses } from '../runner/stop.ts';
import { throwOnShutdown } from '../runner/wait.ts';
import { processWords } from '../runner/words.ts';
import type { ToolContext } from '../tools/tool.ts';
import { Refusal } from '../workspace/refusal.ts';
import { endedOutcome, madeOutcome, type CommitAttempt } from './commitOutcome.ts';
import { TRAILER, type CommitPlan } from './commitPlan.ts';
import { findCommit } from './findCommit.ts';
import { branchWords, headWords, lockWords, readHead, treeOf } from './repository.ts';

const LOOK_EVERY_MS = 100;

/** Looks, and shuts the gate if nobody came through it. */
export async function reconcileCommit(context: ToolContext): Promise<Reconciliation> {
  const proofs = new CommandProofs(context.operation, context.attempt);
  const attemptOf = (intent: Intent<CommitPlan>): CommitAttempt => ({
    proofs,
    intent,
    context,
    place: { cwd: intent.plan.cwd, env: context.env },
  });
  return reconcileStart<CommitPlan>(proofs, {
    entered: async (gate, intent) => entered(gate, attemptOf(intent)),
    // The repository is a proof of its own: it tells even where the records of the start are lost.
    rebooted: async (intent) => askRepository(attemptOf(intent)),
    torn: async (intent) => askRepository(attemptOf(intent)),
  });
}

/**
 * Waits for what a dead runner left running, git or one of its hooks: only then the repository tells the
 * end. An interrupt ends it, and so does the commit's own time-out. Resolves at once when the runner lives.
 */
export async function waitForOrphans(
  proofs: CommandProofs,
  { timeout_ms }: CommitPlan,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const now = await observe(proofs);
    if (now.state !== 'lost') return;
    const target = { runner: now.gate.runner, operation_id: proofs.record.operation_id };
    if ((await listGroup(target.runner, target.operation_id)).length === 0) return;
    throwOnShutdown(signal);
    if (signal.aborted || elapsedMs(now.gate) >= timeout_ms) return stopProcesses(target);
    await delay(LOOK_EVERY_MS);
  }
}

async function entered(gate: GateEntry, attempt: CommitAttempt): Promise<Reconciliation> {
  const { proofs } = attempt;
  const now = await observe(proofs);
  if (now.state === 'running')
    return { status: 'running', evidence: await runningEvidence(proofs, now.gate, now.stop) };
  if (now.state === 'ended')
    return { status: 'completed', evidence: endedEvidence(now), outcome: await endedOutcome(attempt, now) };
  const left = await listGroup(gate.runner, proofs.record.operation_id);
  if (left.length === 0) return askRepository(attempt);
  return {
    status: 'running',
    evidence: `The commit was started at ${gate.at.toISOString()} by runner process ${gate.runner.pid}. That process is gone, but git or one of its hooks still runs and may commit: ${processWords(left)}.`,
  };
}

/** Nothing of the attempt runs any more: the history says whether it was made. */
async function askRepository(attempt: CommitAttempt): Promise<Reconciliation> {
  try {
    const commit = await findCommit(attempt.place, attempt.proofs.record.operation_id, attempt.intent);
    if (commit === undefined) return await notFound(attempt);
    return {
      status: 'completed',
      evidence: `Commit ${commit.sha} has the trailer of this operation: it was made.`,
      outcome: await madeOutcome(attempt, commit),
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return {
      status: 'unknown',
      evidence: `Whether the commit was made is not known: the repository at ${attempt.intent.plan.cwd} can't be asked any more. ${error.message}`,
    };
  }
}

async function notFound({ place, intent }: CommitAttempt): Promise<Reconciliation> {
  const { head_before, branch, tree } = intent.plan;
  const now = await readHead(place);
  const lock = await lockWords(intent.plan);
  const locked = lock === undefined ? '' : `\n${lock}`;
  if (now.head === head_before) {
    return {
      status: 'not_run',
      evidence: `Nothing was committed: HEAD is ${headWords(head_before)}, as it was before, no commit has the trailer of this operation, and nothing of it runs any more.${locked}`,
    };
  }
  const tree_now = now.head === null ? undefined : await treeOf(place, now.head);
  return {
    status: 'unknown',
    evidence:
      [
        `Whether the commit was made is not known. It was about to be made at ${intent.at} on ${branchWords(branch)} with HEAD ${headWords(head_before)}. HEAD is ${headWords(now.head)} on ${branchWords(now.branch)} now, and no commit since then has the trailer \`${TRAILER}\` of this operation: somebody else has moved HEAD, or a hook has removed the trailer.`,
        tree === null
          ? 'Compare `git show HEAD` with what was to be committed.'
          : `The tree to be committed was ${tree}; that of HEAD is ${tree_now ?? 'none'}${tree === tree_now ? ', the same' : ''}.`,
      ].join('\n') + locked,
  };
}
