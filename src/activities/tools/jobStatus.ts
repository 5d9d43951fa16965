/** job_status: what is true of a background command now. */
import * as z from 'zod';
import { findJob } from '../jobs/findJob.ts';
import { jobSentence, lookAtJob } from '../jobs/jobWords.ts';
import { outputEvidence } from '../runner/evidence.ts';
import { settle } from '../workspace/refusal.ts';
import { defineTool } from './tool.ts';
import { JOB_ID, repeatable, targetLine } from './wording.ts';

const NAME = 'job_status';

const schema = z.strictObject({ job_id: z.string().describe(JOB_ID) });

export const jobStatus = defineTool<z.infer<typeof schema>>({
  name: NAME,
  description:
    'Says how a job (bash with background: true) is now: running, ended with which exit code, stopped, or lost, and the end of its output. ' +
    'Jobs outlive interrupts and restarts of the agent; only those of this session can be named.',
  schema,
  effect: () => 'read',
  target: ({ job_id }) => targetLine(job_id),
  run: ({ job_id }, context) =>
    settle(async () => {
      const job = await findJob(context.jobs, job_id);
      const lines = [
        jobSentence(job, await lookAtJob(job)),
        `Command: ${targetLine(job.intent.plan.command)}`,
        await outputEvidence(job.proofs),
      ];
      return { status: 'success', output: lines.join('\n') };
    }),
  reconcile: repeatable(NAME),
});
