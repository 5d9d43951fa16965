/** What is true of a job now, in words. */
import { bootId } from '../../host/process.ts';
import { observe, type Ended, type Observation } from '../runner/observe.ts';
import { listGroup, listStrays, type ProcessEntry } from '../runner/processes.ts';
import { durationMs, elapsedMs, type GateEntry } from '../runner/proofs.ts';
import { exitWords, processWords, secondsOf } from '../runner/words.ts';
import type { Job } from './sessionJobs.ts';

/** A look at a job. */
export interface JobView {
  now: Observation;
  /** Its living processes, the runner excepted. */
  processes: ProcessEntry[];
  /** The machine was restarted since it was started. */
  rebooted: boolean;
}

/** Looks, and changes nothing. */
export async function lookAtJob({ proofs }: Job): Promise<JobView> {
  const now = await observe(proofs);
  if (!('gate' in now)) return { now, processes: [], rebooted: false };
  const { runner } = now.gate;
  const { operation_id } = proofs.record;
  const processes = [...(await listGroup(runner, operation_id)), ...(await listStrays(runner, operation_id))];
  return { now, processes, rebooted: runner.boot !== (await bootId()) };
}

/** One sentence, and a second one about processes that outlived the job's shell. */
export function jobSentence({ job_id, intent }: Job, { now, processes, rebooted }: JobView): string {
  switch (now.state) {
    case 'running':
      return `Job ${job_id} is running: ${startWords(now.gate)}, ${secondsOf(elapsedMs(now.gate))} ago.${processesWords('Its processes', processes)}`;
    case 'ended':
      return `Job ${job_id} has ended: ${startWords(now.gate)}, ${endWords(now)}.${processesWords('It left processes that still run', processes)}`;
    case 'lost':
      return rebooted
        ? `Job ${job_id} was lost when the machine was restarted: ${startWords(now.gate)}, it does not run any more and left no record of its end. How far it came is not known.`
        : `Job ${job_id} is lost: ${startWords(now.gate)}, that process is gone and left no record of the end. How it ended is not known.${processesWords('It left processes that still run', processes)}`;
    case 'torn':
      return `Whether job ${job_id} was started is not known: it was to be at ${intent.at}, and the record of its start is damaged.`;
    default:
      return `Job ${job_id} has not been started: it was about to be at ${intent.at}.`;
  }
}

function startWords({ at, runner }: GateEntry): string {
  return `started at ${at.toISOString()} as process ${runner.pid}`;
}

function endWords({ gate, exit, stop }: Ended): string {
  const end =
    exit === undefined
      ? 'it left no exit code'
      : `ended at ${exit.at.toISOString()} with ${exitWords(exit.code)} after ${secondsOf(durationMs(gate, exit))}`;
  return stop === undefined ? end : `stopped at ${stop.at}, ${end}`;
}

function processesWords(what: string, processes: ProcessEntry[]): string {
  return processes.length === 0 ? '' : ` ${what}: ${processWords(processes)}.`;
}
