/**
 * `bash`: runs a command in the workspace. The command belongs to a detached runner (activities/runner), not
 * to the worker: it outlives the worker's death, and its true result is found out afterwards.
 */
import * as z from 'zod';
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { Reconciliation, ToolOutcome } from '../../domain/tool.ts';
import { reconcileJobStart, startJob } from '../jobs/startJob.ts';
import { commandOutcome } from '../runner/outcome.ts';
import { CommandProofs, type CommandPlan } from '../runner/proofs.ts';
import { reconcileCommand } from '../runner/reconcile.ts';
import { startRunner } from '../runner/start.ts';
import { STOP_GRACE_MS } from '../runner/stop.ts';
import { NotStarted, RunnerLost, throwOnShutdown, waitForEnd, type WaitOptions } from '../runner/wait.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { targetLine } from './wording.ts';

const COMMAND_TIMEOUT_DEFAULT_MS = 10 * 60 * 1000;
/** Below the 24 h that an activity may take. */
const COMMAND_TIMEOUT_MAX_MS = 12 * 60 * 60 * 1000;
/** A variable or argument may have 128 KiB on Linux (MAX_ARG_STRLEN). */
export const COMMAND_MAX_BYTES = 100 * 1024;

const parameters = z.strictObject({
  command: z
    .string()
    .refine((text) => text.trim() !== '', 'Expected a command, found only blanks.')
    .refine((text) => !text.includes('\0'), 'A command can hold no NUL character. Write it as \\0 in printf.')
    .refine(
      (text) => Buffer.byteLength(text) <= COMMAND_MAX_BYTES,
      `A command may have at most ${COMMAND_MAX_BYTES} bytes. Write a script file and run that.`,
    )
    .describe('Given to `bash -c`, in the workspace folder.'),
  timeout_ms: z
    .int()
    .min(1)
    .max(COMMAND_TIMEOUT_MAX_MS)
    .optional()
    .describe(
      `Milliseconds after which the command is stopped. Default ${COMMAND_TIMEOUT_DEFAULT_MS}, at most ${COMMAND_TIMEOUT_MAX_MS}. Not with background.`,
    ),
  background: z
    .boolean()
    .optional()
    .describe('Start a job and return at once, for servers, watchers and whatever runs for long.'),
});

const schema = parameters.refine(
  ({ background, timeout_ms }) => background !== true || timeout_ms === undefined,
  'A job has no time-out: leave out timeout_ms, or background.',
);

type BashArgs = z.infer<typeof schema>;

export const bash = defineTool<BashArgs>({
  name: 'bash',
  description: [
    'Runs a shell command in the workspace folder and returns its exit code and its output (stdout and stderr together).',
    'Each call is a new shell: no folder change or variable lasts. There is no terminal and stdin is empty, so nothing can be asked.',
    `Output of more than ${OUTPUT_MAX_BYTES} bytes is shown as head and tail, the whole is kept for read_output.`,
    `The command is stopped after timeout_ms (TERM, ${STOP_GRACE_MS} ms later KILL, to its whole process group).`,
    'With background: true it becomes a job that outlives the run, has no time-out and is looked at with job_status, job_output and job_stop.',
    'Otherwise the call returns when the shell ends; what it left running in the background goes on and is named in the result.',
    'Write to stderr with `>&2`: `> /dev/stderr` and `> /dev/stdout` would erase the output so far.',
  ].join(' '),
  schema,
  effect: () => 'side_effect',
  target: ({ command }) => targetLine(command),
  run,
  reconcile,
  attach,
});

async function run(args: BashArgs, context: ToolContext): Promise<ToolOutcome> {
  if (args.background === true) return startJob(args.command, context);
  throwOnShutdown(context.signal);
  if (context.signal.aborted) return notStarted('the run was interrupted first');
  const proofs = new CommandProofs(context.operation, context.attempt);
  const plan: CommandPlan = {
    command: args.command,
    cwd: context.workspace,
    timeout_ms: args.timeout_ms ?? COMMAND_TIMEOUT_DEFAULT_MS,
  };
  await context.operation.recordIntent('bash', context.attempt, plan);
  const child = await startRunner(proofs, plan, context.env);
  return outcome(proofs, plan, context, { child });
}

async function attach(_: BashArgs, context: ToolContext): Promise<ToolOutcome> {
  const proofs = new CommandProofs(context.operation, context.attempt);
  const intent = await proofs.readIntent();
  if (intent === undefined) throw new RunnerLost(context.operation.operation_id, 'it was never planned');
  return outcome(proofs, intent.plan, context, {});
}

async function outcome(
  proofs: CommandProofs,
  plan: CommandPlan,
  context: ToolContext,
  options: Pick<WaitOptions, 'child'>,
): Promise<ToolOutcome> {
  try {
    const { timeout_ms } = plan;
    const ended = await waitForEnd(proofs, { ...options, timeout_ms, signal: context.signal });
    return await commandOutcome(proofs, plan, ended, context);
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error;
    return notStarted(`it was stopped first (${error.reason})`);
  }
}

function notStarted(why: string): ToolOutcome {
  return { status: 'cancelled', output: `[The command was not started: ${why}.]` };
}

function reconcile(args: BashArgs, context: ToolContext): Promise<Reconciliation> {
  if (args.background === true) return reconcileJobStart(context);
  return reconcileCommand(new CommandProofs(context.operation, context.attempt), context);
}
