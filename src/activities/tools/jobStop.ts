/** job_stop: ends a background command and all that it started. Whoever repeats it learns what was true before. */
import * as z from 'zod';
import type { ToolOutcome } from '../../domain/tool.ts';
import { findJob } from '../jobs/findJob.ts';
import { jobSentence, lookAtJob, type JobView } from '../jobs/jobWords.ts';
import type { Job } from '../jobs/sessionJobs.ts';
import { elapsedMs } from '../runner/proofs.ts';
import { STOP_GRACE_MS, stopProcesses } from '../runner/stop.ts';
import { processWords } from '../runner/words.ts';
import { settle } from '../workspace/refusal.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { JOB_ID, targetLine } from './wording.ts';

const NAME = 'job_stop';

const schema = z.strictObject({ job_id: z.string().describe(JOB_ID) });

export const jobStop = defineTool<z.infer<typeof schema>>({
  name: NAME,
  description:
    `Ends a job (bash with background: true): TERM to all its processes, ${STOP_GRACE_MS} ms later KILL to those that are left. ` +
    'Says what was true before and what is true now. A job that has ended already is left as it is, apart from processes that it left behind.',
  schema,
  effect: () => 'idempotent',
  target: ({ job_id }) => targetLine(job_id),
  run: ({ job_id }, context) => settle(() => run(job_id, context)),
  reconcile: () =>
    Promise.resolve({
      status: 'not_run',
      evidence: `Whether ${NAME} had an effect is not known; it can be repeated, and says then what was true.`,
    }),
});

async function run(job_id: string, context: ToolContext): Promise<ToolOutcome> {
  const job = await findJob(context.jobs, job_id);
  const before = await lookAtJob(job);
  const nothing_to_do = before.now.state !== 'running' && before.processes.length === 0;
  if (nothing_to_do || !('gate' in before.now)) {
    return {
      status: 'success',
      output: `${jobSentence(job, before)} Nothing of it runs now; nothing was stopped.`,
    };
  }
  if (before.now.state === 'running') await job.proofs.writeStop('job_stop', elapsedMs(before.now.gate));
  const { operation_id } = job.proofs.record;
  await stopProcesses({ runner: before.now.gate.runner, operation_id });
  return outcome(job, before, await lookAtJob(job));
}

function outcome(job: Job, before: JobView, after: JobView): ToolOutcome {
  const was =
    before.now.state === 'running'
      ? 'It was running and was stopped.'
      : `Its shell was gone already; what it had left was stopped: ${processWords(before.processes)}.`;
  const alive = after.now.state === 'running' || after.processes.length > 0;
  const left = alive
    ? `Not all of it could be ended: ${processWords(after.processes) || 'its runner'} still runs after KILL.`
    : 'Nothing of it runs now.';
  return { status: alive ? 'failed' : 'success', output: [was, jobSentence(job, after), left].join(' ') };
}
