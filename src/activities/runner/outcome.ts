/**
 * What the model is told of a command that is over. It is built from the proofs alone, so that a result that
 * was recovered after a crash reads like one that was not.
 */
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { ToolOutcome, ToolStatus } from '../../domain/tool.ts';
import { hasCode } from '../../host/files.ts';
import { bootId } from '../../host/process.ts';
import type { BlobStore } from '../journal/blobs.ts';
import { boundOutput, type BoundedOutput } from '../tools/boundedOutput.ts';
import { targetLine } from '../tools/wording.ts';
import type { Ended } from './observe.ts';
import { listGroup } from './processes.ts';
import {
  durationMs,
  type CommandPlan,
  type CommandProofs,
  type Exit,
  type Stop,
  type StopReason,
} from './proofs.ts';
import { STOP_GRACE_MS } from './stop.ts';
import { SPOOL_MAX_BYTES } from './wait.ts';
import { exitWords, processWords, secondsOf } from './words.ts';

export interface OutcomeContext {
  call_id: string;
  blobs: BlobStore;
}

/** The result of a command: how it ended, what still runs, and its output. */
export async function commandOutcome(
  proofs: CommandProofs,
  plan: CommandPlan,
  ended: Ended,
  context: OutcomeContext,
): Promise<ToolOutcome> {
  const head = `${(await headLines(proofs, plan, ended)).join('\n')}\n\n`;
  const bounded = await boundSpool(proofs, context, OUTPUT_MAX_BYTES - Buffer.byteLength(head));
  return {
    ...bounded,
    status: statusOf(ended),
    output: head + (bounded.output === '' ? '(no output)' : bounded.output),
    ...(ended.exit && { exit_code: ended.exit.code }),
  };
}

function statusOf({ exit, stop }: Ended): ToolStatus {
  if (stop?.reason === 'interrupt') return 'cancelled';
  return stop === undefined && exit?.code === 0 ? 'success' : 'failed';
}

async function headLines(proofs: CommandProofs, plan: CommandPlan, ended: Ended): Promise<string[]> {
  const { gate, stop } = ended;
  const lines = [endLine(plan, ended)];
  if (stop?.reason === 'interrupt') lines.push(`[command: ${targetLine(plan.command)}]`);
  const left = await listGroup(gate.runner, proofs.record.operation_id);
  if (left.length > 0) lines.push(`[still running in the background, not stopped: ${processWords(left)}]`);
  if (gate.runner.boot !== (await bootId()))
    lines.push('[the machine was restarted after this: the end of the output may be missing]');
  return lines;
}

function endLine(plan: CommandPlan, ended: Ended): string {
  if (ended.stop !== undefined) return `[${stopWords(ended.stop, plan)}; ${endWords(ended.exit)}]`;
  return `[${exitWords(ended.exit.code)}, ran ${secondsOf(durationMs(ended.gate, ended.exit))}]`;
}

function stopWords(stop: Stop, plan: CommandPlan): string {
  const words: Record<StopReason, string> = {
    timeout: `timed out after ${stop.after_ms} ms, limit ${plan.timeout_ms} ms`,
    interrupt: `interrupted after ${secondsOf(stop.after_ms)}, it may have done a part of its work`,
    job_stop: `stopped by job_stop after ${secondsOf(stop.after_ms)}`,
    output_limit: `stopped after ${secondsOf(stop.after_ms)}, it wrote more than ${SPOOL_MAX_BYTES} bytes`,
  };
  return words[stop.reason];
}

function endWords(exit: Exit | undefined): string {
  if (exit !== undefined) return `sent TERM, ended with ${exitWords(exit.code)}`;
  return `stopped by TERM or, after ${secondsOf(STOP_GRACE_MS)}, KILL; it left no exit code`;
}

async function boundSpool(
  proofs: CommandProofs,
  context: OutcomeContext,
  max_bytes: number,
): Promise<BoundedOutput> {
  try {
    return await boundOutput({ path: proofs.spoolPath }, { ...context, max_bytes });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return { output: `(its output is gone: ${proofs.spoolPath} is missing)` };
  }
}
