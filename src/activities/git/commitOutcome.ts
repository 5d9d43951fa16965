/**
 * What the model is told of a commit that is over. It is built from the repository and the runner's proofs,
 * so that a result that was recovered after a crash reads like one that was not.
 */
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { ToolOutcome, ToolStatus } from '../../domain/tool.ts';
import { hasCode } from '../../host/files.ts';
import type { Intent } from '../journal/operation.ts';
import type { Ended } from '../runner/observe.ts';
import { durationMs, type CommandProofs } from '../runner/proofs.ts';
import { exitWords, secondsOf } from '../runner/words.ts';
import { boundOutput, type BoundedOutput } from '../tools/boundedOutput.ts';
import type { ToolContext } from '../tools/tool.ts';
import { targetLine } from '../tools/wording.ts';
import { Refusal } from '../workspace/refusal.ts';
import type { CommitPlan } from './commitPlan.ts';
import { commitAt, contentOf, findCommit, type FoundCommit } from './findCommit.ts';
import type { GitPlace } from './git.ts';
import { branchWords, headWords, lockWords, readHead } from './repository.ts';

const PATHS_NAMED = 100;
const HOOKS_TITLE = 'Git and its hooks said:';

/** One attempt, with all that its outcome is built from. */
export interface CommitAttempt {
  proofs: CommandProofs;
  intent: Intent<CommitPlan>;
  context: ToolContext;
  /** The top of the working tree. */
  place: GitPlace;
}

/** The result of a commit whose runner has recorded its end. */
export async function endedOutcome(attempt: CommitAttempt, ended: Ended): Promise<ToolOutcome> {
  try {
    return await outcomeOf(attempt, ended);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // It has an effect by now, so a repository that does not answer is no reason to say that it failed.
    const lines = [endLine(ended), `What it has committed can't be said. ${error.message}`];
    return told(attempt, ended.exit?.code === 0 ? 'success' : statusOf(ended), lines, HOOKS_TITLE);
  }
}

async function outcomeOf(attempt: CommitAttempt, ended: Ended): Promise<ToolOutcome> {
  const { place, intent, proofs } = attempt;
  const by_trailer = await findCommit(place, proofs.record.operation_id, intent);
  if (by_trailer !== undefined) return madeOutcome(attempt, by_trailer);
  const next = ended.exit?.code === 0 ? await commitAt(place, 'HEAD') : undefined;
  if (next !== undefined && next.sha !== intent.plan.head_before && next.parent === intent.plan.head_before) {
    const note = '[a hook has removed the trailer that names this operation]';
    return madeOutcome(attempt, next, note);
  }
  return failedOutcome(attempt, ended);
}

/** The result of a commit that is in the repository. */
export async function madeOutcome(
  attempt: CommitAttempt,
  commit: FoundCommit,
  note?: string,
): Promise<ToolOutcome> {
  const { place, intent } = attempt;
  const { head } = await readHead(place);
  const { summary, paths } = await contentOf(place, commit.sha);
  const more = paths.length - PATHS_NAMED;
  const lock = await lockWords(intent.plan);
  const lines = [
    `Committed ${commit.sha} on ${branchWords(intent.plan.branch)}: ${targetLine(commit.subject)}`,
    `Parent: ${commit.parent ?? 'none, it is the first commit'}.`,
    summary === '' ? 'It changes no file.' : `${summary}:`,
    ...paths.slice(0, PATHS_NAMED).map(targetLine),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(note === undefined ? [] : [note]),
    ...(head === commit.sha ? [] : [`[HEAD is ${headWords(head)} now, another commit]`]),
    ...(lock === undefined ? [] : [lock]),
  ];
  return told(attempt, 'success', lines, HOOKS_TITLE);
}

async function failedOutcome(attempt: CommitAttempt, ended: Ended): Promise<ToolOutcome> {
  const { place, intent } = attempt;
  const { head } = await readHead(place);
  const { head_before } = intent.plan;
  const lock = await lockWords(intent.plan);
  const where =
    head === head_before
      ? `Nothing was committed: HEAD is still ${headWords(head)}.`
      : `This commit was not made: no commit has its trailer. HEAD was ${headWords(head_before)} before and is ${headWords(head)} now, which somebody else, or a hook, has brought about.`;
  const lines = [endLine(ended), where, ...(lock === undefined ? [] : [lock])];
  const outcome = await told(attempt, statusOf(ended), lines, HOOKS_TITLE);
  return { ...outcome, ...(ended.exit && { exit_code: ended.exit.code }) };
}

function statusOf({ stop }: Ended): ToolStatus {
  return stop?.reason === 'interrupt' ? 'cancelled' : 'failed';
}

function endLine({ gate, exit, stop }: Ended): string {
  const end = exit === undefined ? 'left no exit code' : `ended with ${exitWords(exit.code)}`;
  if (stop !== undefined) {
    const why = stop.reason === 'interrupt' ? 'interrupted' : `stopped (${stop.reason})`;
    return `[${why} after ${secondsOf(stop.after_ms)}; git commit ${end}]`;
  }
  const ran = exit === undefined ? '' : `, ran ${secondsOf(durationMs(gate, exit))}`;
  return `[git commit ${end}${ran}]`;
}

async function told(
  { proofs, context }: CommitAttempt,
  status: ToolStatus,
  lines: string[],
  title: string,
): Promise<ToolOutcome> {
  const head = lines.join('\n');
  const room = OUTPUT_MAX_BYTES - Buffer.byteLength(head) - Buffer.byteLength(title) - 2;
  const spool = await readSpool(proofs, context, room);
  if (spool.output.trim() === '') return { status, output: head };
  return { ...spool, status, output: `${head}\n${title}\n${spool.output}` };
}

async function readSpool(
  proofs: CommandProofs,
  context: ToolContext,
  max_bytes: number,
): Promise<BoundedOutput> {
  try {
    return await boundOutput({ path: proofs.spoolPath }, { ...context, max_bytes });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { output: '' };
    throw error;
  }
}
