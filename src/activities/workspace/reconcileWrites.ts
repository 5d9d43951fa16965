/**
 * What became of a write whose worker is lost. It only looks, apart from shutting the gate, removing what was
 * staged, and carrying a plan of several files to its end once it has begun.
 *
 * The lost worker may only be frozen, and wake up at any moment. Both sides decide by one atomic act, taking
 * the first staged thing:
 * - removed here: the worker's first rename finds nothing (ENOENT), it throws Fenced, and no later change of
 *   the plan is reached. Certain: not run.
 * - not there: the first rename has happened. What is still staged is kept, and the rest is renamed here.
 *   If the worker wakes up meanwhile, both rename the same staged contents over the same targets; each
 *   rename succeeds for one and finds nothing for the other, so the end state is the same whoever did it.
 */
import * as z from 'zod';
import { EVIDENCE_MAX_BYTES } from '../../domain/limits.ts';
import type { Reconciliation } from '../../domain/tool.ts';
import type { Intent } from '../journal/operation.ts';
import type { ToolContext } from '../tools/tool.ts';
import { takeStart } from '../tools/utf8.ts';
import { apply, discard, type FileChange, isStaged, sweep, versionNow } from './fileChange.ts';
import { Refusal, refusalOf } from './refusal.ts';
import { withdraw, withdrawnName, type WritePlan } from './writeChanges.ts';

/** A change and where its file stands. */
interface Look {
  change: FileChange;
  now: string | null;
  stands: 'before' | 'after' | 'neither';
}

const fileChange = z.object({
  path: z.string(),
  before: z.nullable(z.string()),
  after: z.nullable(z.string()),
  mode: z.nullable(z.number()),
  staged: z.string(),
});
const planSchema = z.object({
  changes: z.array(fileChange).min(1),
  outcome: z.looseObject({ status: z.enum(['success']), output: z.string() }),
});

/** The `reconcile` of write_file, edit_file and apply_patch. */
export async function reconcileWrites(context: ToolContext): Promise<Reconciliation> {
  const { operation, attempt } = context;
  const gate = await operation.closeGate(attempt);
  const found = await readPlan(context);
  if (gate === 'closed') {
    for (const change of found.plan?.changes ?? []) await discard(context.workspace, change);
    return notRun(
      found.at === undefined
        ? 'No intent was recorded: it stopped before it had planned anything.'
        : `It was planned at ${found.at} and stopped before its first change; it can't begin any more.`,
    );
  }
  if (!found.plan) {
    return {
      status: 'unknown',
      evidence: clip(`It went through its gate, but its plan can't be read. ${found.problem}`),
    };
  }
  const proof = await operation.readProof(withdrawnName(attempt)).catch(() => undefined);
  if (proof !== undefined || (await withdraw(context, found.plan.changes)))
    return settleWithdrawn(context, found.plan);
  return settleBegun(context, found.plan);
}

type FoundPlan =
  | { plan: WritePlan; at: string; problem?: never }
  | { plan?: never; at?: string; problem: string };

/** A torn or foreign intent is evidence of nothing: it is named and not thrown, since it would be torn for ever. */
async function readPlan({ operation, attempt }: ToolContext): Promise<FoundPlan> {
  let intent: Intent | undefined;
  try {
    intent = await operation.readIntent();
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error), at: 'a time that is lost' };
  }
  // Another attempt's plan is not touched: that attempt may be at work right now.
  if (intent?.attempt !== attempt)
    return {
      problem: `Expected the intent of attempt ${attempt} in ${operation.path('intent.json')}, found none.`,
    };
  const plan = planSchema.safeParse(intent.plan);
  if (!plan.success)
    return { problem: `${operation.path('intent.json')} has no plan of this tool.`, at: intent.at };
  return { plan: { changes: plan.data.changes, outcome: plan.data.outcome }, at: intent.at };
}

/** The staged first change was taken away before it was made: whatever the files are now, it was not us. */
async function settleWithdrawn(context: ToolContext, plan: WritePlan): Promise<Reconciliation> {
  for (const change of plan.changes) await discard(context.workspace, change);
  const looks = await lookAtAll(context, plan.changes);
  if (looks.every(({ stands }) => stands === 'after')) return completed(plan, looks);
  return notRun(
    `Its staged content was still in place and has been removed, so it never happened and can't any more. ${table(looks)}`,
  );
}

async function settleBegun(context: ToolContext, plan: WritePlan): Promise<Reconciliation> {
  const looks = await lookAtAll(context, plan.changes);
  if (looks.every(({ stands }) => stands === 'after')) {
    for (const change of plan.changes) await sweep(context.workspace, change);
    return completed(plan, looks);
  }
  if (await canRollForward(context, looks)) return rollForward(context, plan, looks);
  for (const change of plan.changes) await discard(context.workspace, change);
  // Looked at again, now that a worker that wakes up can't change them any more.
  const last = await lookAtAll(context, plan.changes);
  if (last.every(({ stands }) => stands === 'before'))
    return notRun(`Every file is as it was before. ${table(last)}`);
  if (last.every(({ stands }) => stands === 'after')) return completed(plan, last);
  return {
    status: 'unknown',
    evidence: clip(
      `It went through its gate and may have written; somebody may have written since. Check before you rely on it. ${table(last)}`,
    ),
  };
}

/** One file done and the others untouched: the plan has begun, and all that it needs is still staged. */
async function canRollForward(context: ToolContext, looks: Look[]): Promise<boolean> {
  const left = looks.filter(({ stands }) => stands === 'before');
  if (left.length === looks.length || looks.some(({ stands }) => stands === 'neither')) return false;
  for (const { change } of left) if (!(await isStaged(context.workspace, change))) return false;
  return true;
}

async function rollForward(context: ToolContext, plan: WritePlan, looks: Look[]): Promise<Reconciliation> {
  // Nothing is discarded here: see the head of this file for why a worker that wakes up does no harm.
  const left = looks.filter(({ stands }) => stands === 'before').map(({ change }) => change);
  let problem = '';
  try {
    for (const change of left) await apply(context.workspace, change);
  } catch (error) {
    // What is in the way now will be in the way on a retry; a broken disk may not be.
    const refusal = refusalOf(error, 'The next file');
    if (!(refusal instanceof Refusal)) throw error;
    problem = refusal.message;
  }
  const last = await lookAtAll(context, plan.changes);
  const story = `${looks.length - left.length} of ${looks.length} files had been changed when the worker was lost; the rest was rolled forward: ${left.map(({ path }) => path).join(', ')}.`;
  if (last.every(({ stands }) => stands === 'after')) {
    for (const change of plan.changes) await sweep(context.workspace, change);
    return completed(plan, last, story);
  }
  return { status: 'unknown', evidence: clip(`${story} ${problem} Not all are as planned. ${table(last)}`) };
}

async function lookAtAll(context: ToolContext, changes: FileChange[]): Promise<Look[]> {
  const looks: Look[] = [];
  for (const change of changes) {
    const now = await versionNow(context.workspace, change);
    const stands = now === change.after ? 'after' : now === change.before ? 'before' : 'neither';
    looks.push({ change, now, stands });
  }
  return looks;
}

function completed(plan: WritePlan, looks: Look[], story = ''): Reconciliation {
  const evidence = clip(`${story} Every file is as this call was to leave it. ${table(looks)}`.trim());
  return { status: 'completed', evidence, outcome: plan.outcome };
}

function notRun(evidence: string): Reconciliation {
  return { status: 'not_run', evidence: clip(evidence) };
}

function table(looks: Look[]): string {
  return looks
    .map(({ change, now, stands }) => {
      const found = `${change.path}: sha256 now ${now ?? 'no file'}`;
      if (stands === 'after') return `${found}, as after the call.`;
      if (stands === 'before') return `${found}, as before the call.`;
      return `${found}, before the call ${change.before ?? 'no file'}, after it ${change.after ?? 'no file'}.`;
    })
    .join('\n');
}

function clip(text: string): string {
  return takeStart(Buffer.from(text), 0, EVIDENCE_MAX_BYTES).text;
}
