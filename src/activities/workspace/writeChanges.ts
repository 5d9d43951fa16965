/**
 * How every write tool touches files. The order is what makes a kill harmless at any point:
 *
 *   1. intent     what is to change, with hashes before and after and the outcome to report, fsynced
 *   2. stage      all new contents beside their targets, fsynced: no effect so far
 *   3. gate       the right to go on; a reconciler that came first has shut it
 *   4. look       every target again: it must still be what the change was computed from
 *   5. apply      one rename a change, in the plan's order. The first rename decides: taking the first
 *                 staged thing (here, by rename; in the reconciler, by removal) is atomic, so either the whole
 *                 plan can't happen any more or it has begun and is carried to its end
 *
 * reconcileWrites.ts is the other half.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { FileVersion, ToolOutcome } from '../../domain/tool.ts';
import { Fenced } from '../journal/operation.ts';
import type { ToolContext } from '../tools/tool.ts';
import {
  apply,
  discard,
  type FileChange,
  isStaged,
  placeChange,
  stage,
  versionNow,
  type WantedChange,
} from './fileChange.ts';
import { Interrupted, Refusal, refusalOf } from './refusal.ts';

/** The plan in the intent: enough to finish the operation, or to tell how far it came, without the worker. */
export interface WritePlan {
  changes: FileChange[];
  /** What an undisturbed run reports. */
  outcome: ToolOutcome;
}

/** The proof that an attempt's changes were made impossible before the first of them happened. */
export function withdrawnName(attempt: number): string {
  return `withdrawn-${attempt}.json`;
}

/**
 * Makes all the changes, or none. Throws Refusal (nothing or, said so, a part was changed), Fenced, and the
 * file system's errors of infrastructure.
 */
export async function writeChanges(
  tool: string,
  wanted: WantedChange[],
  outcome: ToolOutcome,
  context: ToolContext,
): Promise<ToolOutcome> {
  stopIfInterrupted(context);
  await requireWritable(wanted);
  const { workspace, operation, attempt } = context;
  const changes = await Promise.all(
    wanted.map((change, index) =>
      placeChange(workspace, change, `${operation.operation_id}-${attempt}-${index}`),
    ),
  );
  await operation.recordIntent<WritePlan>(tool, attempt, { changes, outcome });
  try {
    for (const [index, change] of changes.entries()) await stageOne(context, change, wanted[index]);
    stopIfInterrupted(context);
    await operation.enterGate(attempt, context.worker);
  } catch (error) {
    // Before the gate nothing can have happened, and nobody else goes on with what is staged here.
    for (const change of changes) await discard(workspace, change);
    throw error;
  }
  await requireUnchanged(context, changes);
  for (const [index, change] of changes.entries()) await applyOne(context, changes, index, change);
  return outcome;
}

/** Throws when the run was interrupted; only to be called while nothing has been changed. */
function stopIfInterrupted(context: ToolContext): void {
  if (context.signal.aborted) throw new Interrupted('Interrupted before anything was changed.');
}

/**
 * Makes an attempt's changes impossible, if the first has not happened yet, and keeps the proof of it:
 * without it a second look could only compare hashes. True when they never happened.
 */
export async function withdraw(context: ToolContext, changes: FileChange[]): Promise<boolean> {
  const [first, ...rest] = changes;
  if (!first || !(await discard(context.workspace, first))) return false;
  await context.operation.writeProof(withdrawnName(context.attempt), { at: new Date().toISOString() });
  for (const change of rest) await discard(context.workspace, change);
  return true;
}

async function stageOne(
  context: ToolContext,
  change: FileChange,
  wanted: WantedChange | undefined,
): Promise<void> {
  if (!wanted) return;
  try {
    await stage(context.workspace, change, wanted);
  } catch (error) {
    throw refusalOf(error, change.path);
  }
}

/** A rename would replace a file that its owner made read-only. */
async function requireWritable(wanted: WantedChange[]): Promise<void> {
  for (const { path, before, after } of wanted) {
    try {
      if (before !== null) await access(path.absolute, constants.W_OK);
      if (after === null) await access(dirname(path.absolute), constants.W_OK);
    } catch (error) {
      throw refusalOf(error, path.relative);
    }
  }
}

async function requireUnchanged(context: ToolContext, changes: FileChange[]): Promise<void> {
  for (const change of changes) {
    const now = await versionNow(context.workspace, change);
    if (now === change.before) continue;
    // If a reconciler came meanwhile, it has decided; this worker was asleep and says nothing.
    if (!(await withdraw(context, changes))) throw fenced(context);
    throw new Refusal(`${changedSince(change, now)} Nothing was changed.`);
  }
}

async function applyOne(
  context: ToolContext,
  changes: FileChange[],
  index: number,
  change: FileChange,
): Promise<void> {
  let problem: unknown;
  try {
    // The first was looked at a moment ago; the others may have been changed while those before were made.
    const now = index === 0 ? change.before : await versionNow(context.workspace, change);
    if (now === change.before) {
      // Never clean up when it is gone: a reconciler may be carrying on with what is still staged.
      if ((await apply(context.workspace, change)) === 'gone') throw fenced(context);
      return;
    }
    problem = new Refusal(changedSince(change, now));
  } catch (error) {
    if (error instanceof Fenced) throw error;
    problem = refusalOf(error, change.path);
  }
  if (!(await isStaged(context.workspace, change))) throw fenced(context);
  throw await giveUp(context, changes, index, problem);
}

/** The end of a plan that can't be carried on: all of it withdrawn, or the truth about the part that is done. */
async function giveUp(
  context: ToolContext,
  changes: FileChange[],
  index: number,
  problem: unknown,
): Promise<unknown> {
  if (index === 0) {
    if (!(await withdraw(context, changes))) return fenced(context);
    return problem instanceof Refusal ? new Refusal(`${problem.message} Nothing was changed.`) : problem;
  }
  // A broken disk half-way is for the reconciler, which rolls the rest forward from what is staged.
  if (!(problem instanceof Refusal)) return problem;
  for (const change of changes.slice(index)) await discard(context.workspace, change);
  const done = changes.slice(0, index);
  return new Refusal(
    `PARTLY APPLIED: ${problem.message} Changed before that: ${names(done)}. ` +
      `Not changed: ${names(changes.slice(index))}. Look at these files, then do what is left.`,
    done.map(({ path, after }): FileVersion => ({ path, version: after })),
  );
}

function changedSince(change: FileChange, now: string | null): string {
  return (
    `FILE_CHANGED: ${change.path} was changed by somebody else a moment ago. Expected ` +
    `${change.before === null ? 'no file' : `version ${change.before}`}, found ${now ?? 'no file'}. ` +
    `Read it again with read_file ${JSON.stringify({ path: change.path })}, then decide and repeat the call.`
  );
}

function names(changes: FileChange[]): string {
  return changes.map(({ path }) => path).join(', ');
}

function fenced({ operation, attempt }: ToolContext): Fenced {
  return new Fenced(operation.operation_id, attempt);
}
