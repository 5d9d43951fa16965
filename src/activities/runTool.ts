/** `runTool`, `reconcileTool`, `attachTool`: one tool call on the host of its workspace. */
import { realpath, stat } from 'node:fs/promises';
import type { SessionEvent } from '../domain/event.ts';
import type { Reconciliation, ToolOutcome } from '../domain/tool.ts';
import { reached } from '../host/faults.ts';
import type { AttachInput, ToolInput } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import { finalFailure } from './failures.ts';
import { isShutdown, WorkerShutdown, withHeartbeat } from './heartbeat.ts';
import { SessionJobs } from './jobs/sessionJobs.ts';
import { Fenced } from './journal/operation.ts';
import { RunnerLost } from './runner/wait.ts';
import type { SessionView } from './log/knownSession.ts';
import { temporalRun } from './temporalRun.ts';
import { commandEnvironment } from './tools/commandEnvironment.ts';
import { TOOLS } from './tools/registry.ts';
import type { StoredOutput, Tool, ToolContext } from './tools/tool.ts';

/** The activity `runTool`. */
export async function runTool(deps: ActivityDeps, input: ToolInput): Promise<ToolOutcome> {
  return withHeartbeat(async (signal) =>
    withCall(deps, input, signal, async (tool, args, context) => {
      await existingFolder(context.workspace);
      await reached('before_intent');
      const outcome = await tool.run(args, context);
      // What gave up because the worker stops has not been interrupted: the next worker goes on with it.
      if (outcome.status === 'cancelled' && isShutdown(signal)) throw signal.reason;
      await reached('before_report');
      return outcome;
    }),
  );
}

/** The activity `reconcileTool`. It only looks, so nothing stops it. */
export async function reconcileTool(deps: ActivityDeps, input: ToolInput): Promise<Reconciliation> {
  const { signal } = new AbortController();
  return withCall(deps, input, signal, async (tool, args, context) => tool.reconcile(args, context));
}

/** The activity `attachTool`. */
export async function attachTool(deps: ActivityDeps, input: AttachInput): Promise<ToolOutcome> {
  return withHeartbeat(async (signal) => {
    const stop = input.stop
      ? AbortSignal.abort(new DOMException('The run was interrupted.', 'AbortError'))
      : signal;
    return withCall(deps, input, stop, async (tool, args, context) => {
      if (tool.attach === undefined)
        throw finalFailure('operation.lost', `${tool.name} has nothing to wait for.`);
      return tool.attach(args, context);
    });
  });
}

async function withCall<T>(
  deps: ActivityDeps,
  input: ToolInput,
  signal: AbortSignal,
  work: (tool: Tool, args: unknown, context: ToolContext) => Promise<T>,
): Promise<T> {
  const view = await deps.log.at(input.session_id, input.through_seq, temporalRun());
  const call = await deps.log.find(
    view,
    (event) => event.type === 'tool_call' && event.operation_id === input.operation_id,
  );
  if (call?.type !== 'tool_call') throw new Error(`Expected call ${input.call_id} in the log, found none.`);
  const tool = TOOLS.get(call.tool);
  if (tool === undefined) throw new Error(`Expected the tool ${call.tool}, which this worker does not have.`);
  try {
    return await work(tool, call.args, await contextOf(deps, input, view, signal));
  } catch (error) {
    throw explain(error);
  }
}

async function contextOf(
  deps: ActivityDeps,
  input: ToolInput,
  view: SessionView,
  signal: AbortSignal,
): Promise<ToolContext> {
  const { state } = view;
  return {
    // What became of a call is looked up in the journal even where the workspace is gone.
    workspace: await realpath(state.workspace.path).catch(() => state.workspace.path),
    call_id: input.call_id,
    operation: deps.journal.operation(input.session_id, input.operation_id),
    attempt: input.attempt,
    worker: deps.worker,
    blobs: deps.blobs,
    signal,
    env: commandEnvironment(deps.env),
    seenVersion: (path) => state.file_versions.find((seen) => seen.path === path)?.version,
    httpRules: deps.httpRules,
    jobs: new SessionJobs(deps.journal, input.session_id),
    findOutput: async (call_id) =>
      storedOutput(
        await deps.log.find(view, (event) => event.type === 'tool_result' && event.call_id === call_id),
      ),
  };
}

/** The real path of a workspace. Rejects with `workspace.not_found`. */
export async function existingFolder(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined && (await stat(real)).isDirectory()) return real;
  throw finalFailure(
    'workspace.not_found',
    `WorkspaceNotFound: expected the session's workspace at ${path}, found ${real === undefined ? 'nothing' : 'no folder'} there.`,
    'Put it back, or bind the session to where it is now with `holdfast rebind ID DIR`.',
  );
}

function storedOutput(result: SessionEvent | undefined): StoredOutput | undefined {
  if (result?.type !== 'tool_result') return undefined;
  return result.blob === undefined ? { output: result.output } : { output: result.output, blob: result.blob };
}

function explain(error: unknown): unknown {
  if (error instanceof WorkerShutdown) return finalFailure('worker.lost', error.message);
  if (error instanceof Fenced) return finalFailure('operation.fenced', error.message);
  if (error instanceof RunnerLost) return finalFailure('operation.lost', error.message);
  return error;
}
