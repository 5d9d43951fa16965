/** What a tool is: one file in this folder each, listed in registry.ts. */
import type { z } from 'zod';
import type { BlobRef, EffectClass, Reconciliation, ToolOutcome } from '../../domain/tool.ts';
import type { HttpRules } from '../../host/httpRules.ts';
import type { SessionJobs } from '../jobs/sessionJobs.ts';
import type { BlobStore } from '../journal/blobs.ts';
import type { OperationRecord } from '../journal/operation.ts';

/** What a call may use. Everything comes from here: a tool never reads cwd, the clock's zone or the home. */
export interface ToolContext {
  /** Real absolute path of the session's workspace; it exists. */
  workspace: string;
  /** The call's id, as later calls name it to `read_output`. */
  call_id: string;
  operation: OperationRecord;
  /** Counted from 1; names the gate of this attempt. */
  attempt: number;
  /** Names the worker process, for the gate and for evidence. */
  worker: string;
  blobs: BlobStore;
  /** Aborted when the run is interrupted or the worker shuts down. */
  signal: AbortSignal;
  /** The environment for commands: the worker's own, without the agent's keys. */
  env: NodeJS.ProcessEnv;
  /** The version of a file (path relative to the workspace) that this session saw last; undefined: never. */
  seenVersion: (path: string) => string | null | undefined;
  /** Which services may be asked, as configured now. Rejects with SettingsError. */
  httpRules: () => Promise<HttpRules>;
  /** The background commands of this session. */
  jobs: SessionJobs;
  /** The whole output of an earlier call of this session. */
  findOutput: (call_id: string) => Promise<StoredOutput | undefined>;
}

/** An earlier result, as far as read_output needs it. */
export interface StoredOutput {
  output: string;
  blob?: BlobRef;
}

/** What a call is checked against, and what the model is told. */
export interface ToolSpec<Args = unknown> {
  name: string;
  /** Built from the constants that enforce its limits. */
  description: string;
  schema: z.ZodType<Args>;
  effect: (args: Args) => EffectClass;
  /** What it acts on, in one line of at most 200 characters. */
  target: (args: Args) => string;
}

/**
 * A tool of the session's own state: the workflow settles its calls itself when it accepts them
 * (domain/keptTools.ts), so that there is nothing to run and nothing to reconcile.
 */
export interface KeptTool<Args = unknown> extends ToolSpec<Args> {
  effect: () => 'read';
}

/**
 * One tool. `run` resolves with an outcome for everything that the model should read, its own failures
 * included, and rejects for infrastructure alone (a full disk, Fenced, a workspace that is gone).
 * `reconcile` only looks, apart from shutting the gate. `attach` waits for what `reconcile` found running.
 */
export interface Tool<Args = unknown> extends ToolSpec<Args> {
  run: (args: Args, context: ToolContext) => Promise<ToolOutcome>;
  reconcile: (args: Args, context: ToolContext) => Promise<Reconciliation>;
  attach?: (args: Args, context: ToolContext) => Promise<ToolOutcome>;
}

/** Keeps the type of `Args` between schema and functions, and forgets it for the registry. */
export function defineTool<Args>(tool: Tool<Args>): Tool {
  return tool as unknown as Tool;
}

/** The same for a tool that the workflow keeps. */
export function defineKeptTool<Args>(tool: KeptTool<Args>): KeptTool {
  return tool as unknown as KeptTool;
}
