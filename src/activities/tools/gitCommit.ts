/**
 * git_commit: one commit, made once. It runs in the detached runner like a command of bash, and carries the
 * operation_id in a trailer, so that the history itself says whether it was made.
 */
import * as z from 'zod';
import type { ToolOutcome } from '../../domain/tool.ts';
import { commitEnvironment, CommitFiles } from '../git/commitCommand.ts';
import { endedOutcome } from '../git/commitOutcome.ts';
import { checkCommit, TRAILER, type CheckedCommit, type CommitPlan } from '../git/commitPlan.ts';
import { signsCommits, withTrailer } from '../git/repository.ts';
import { reconcileCommit, waitForOrphans } from '../git/reconcileCommit.ts';
import type { Intent } from '../journal/operation.ts';
import { CommandProofs } from '../runner/proofs.ts';
import { startRunner } from '../runner/start.ts';
import { NotStarted, RunnerLost, throwOnShutdown, waitForEnd, type WaitOptions } from '../runner/wait.ts';
import { settle } from '../workspace/refusal.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { targetLine } from './wording.ts';

const NAME = 'git_commit';
/** Hooks may run a whole test suite. */
const COMMIT_TIMEOUT_MS = 60 * 60 * 1000;
const MESSAGE_MAX_BYTES = 64 * 1024;
const PATHS_MAX = 1_000;

const schema = z.strictObject({
  message: z
    .string()
    .refine((text) => text.trim() !== '', 'Expected a message, found only blanks.')
    .refine((text) => !text.includes('\0'), 'A message can hold no NUL character.')
    .refine(
      (text) => Buffer.byteLength(text) <= MESSAGE_MAX_BYTES,
      `A message may have at most ${MESSAGE_MAX_BYTES} bytes.`,
    )
    .describe(`The whole message. A trailer ${TRAILER} is added to it.`),
  paths: z
    .array(
      z
        .string()
        .min(1)
        .refine((text) => !text.includes('\0'), 'A path can hold no NUL character.'),
    )
    .min(1)
    .max(PATHS_MAX)
    .optional()
    .describe(
      'Files or folders, relative to the workspace, taken literally. Exactly their changes are committed, as they are in the working tree now, new and deleted files included; what else is staged stays staged. Left out: exactly what is staged.',
    ),
  expected_head: z
    .string()
    .regex(/^[0-9a-fA-F]{7,64}$/)
    .optional()
    .describe('The sha, or its beginning, that HEAD must be at; if it is elsewhere, nothing is committed.'),
});
type Args = z.infer<typeof schema>;

export const gitCommit = defineTool<Args>({
  name: NAME,
  description: [
    'Makes one commit in the git repository of the workspace and returns its full sha and what is in it.',
    'With paths it commits exactly the changes of those files; without paths exactly what is staged, and nothing if nothing is staged.',
    'Refused when there are conflicts, when HEAD is not at expected_head, or when git does not know an author.',
    `Hooks run as configured (at most ${COMMIT_TIMEOUT_MS / 60_000} minutes); if one refuses, nothing is committed and its output is the result.`,
    'It never pushes, amends or switches branches.',
  ].join(' '),
  schema,
  effect: () => 'side_effect',
  target: ({ message }) => targetLine(message.trim().split('\n')[0] ?? ''),
  run: (args, context) => settle(() => run(args, context)),
  reconcile: (_args, context) => reconcileCommit(context),
  attach: (_args, context) => settle(() => attach(context)),
});

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  throwOnShutdown(context.signal);
  const workspace = { cwd: context.workspace, env: context.env };
  const commit = await checkCommit(args, workspace);
  const { operation, attempt } = context;
  const message = await withTrailer(workspace, args.message, `${TRAILER}: ${operation.operation_id}`);
  const env = commitEnvironment(context.env, await signsCommits(workspace));
  throwOnShutdown(context.signal);
  if (context.signal.aborted) return notStarted();
  const files = new CommitFiles(operation, attempt);
  const plan = planOf(commit, files.command(commit));
  const intent = await operation.recordIntent(NAME, attempt, plan);
  await files.write(message, commit);
  const proofs = new CommandProofs(operation, attempt);
  const child = await startRunner(proofs, plan, env);
  return outcome(proofs, intent, context, { child });
}

async function attach(context: ToolContext): Promise<ToolOutcome> {
  const proofs = new CommandProofs(context.operation, context.attempt);
  const intent = await proofs.readIntent<CommitPlan>();
  if (intent === undefined) throw new RunnerLost(context.operation.operation_id, 'it was never planned');
  await waitForOrphans(proofs, intent.plan, context.signal);
  return outcome(proofs, intent, context, {});
}

async function outcome(
  proofs: CommandProofs,
  intent: Intent<CommitPlan>,
  context: ToolContext,
  options: Pick<WaitOptions, 'child'>,
): Promise<ToolOutcome> {
  const { timeout_ms, cwd } = intent.plan;
  try {
    const ended = await waitForEnd(proofs, { ...options, timeout_ms, signal: context.signal });
    return await endedOutcome({ proofs, intent, context, place: { cwd, env: context.env } }, ended);
  } catch (error) {
    if (error instanceof NotStarted) return notStarted();
    throw error;
  }
}

function planOf({ repository, tree }: CheckedCommit, command: string): CommitPlan {
  return {
    command,
    cwd: repository.top,
    timeout_ms: COMMIT_TIMEOUT_MS,
    git_dir: repository.git_dir,
    head_before: repository.head,
    branch: repository.branch,
    tree,
  };
}

function notStarted(): ToolOutcome {
  return { status: 'cancelled', output: '[Nothing was committed: the run was interrupted first.]' };
}
