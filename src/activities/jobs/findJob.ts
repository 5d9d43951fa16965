/** The job that a call names, or words that help to name the right one. */
import { count, targetLine } from '../tools/wording.ts';
import { Refusal } from '../workspace/refusal.ts';
import type { Job, SessionJobs } from './sessionJobs.ts';

const JOBS_NAMED = 20;

/** Rejects with Refusal when this session has no such job. */
export async function findJob(jobs: SessionJobs, job_id: string): Promise<Job> {
  const job = await jobs.find(job_id).catch((error: unknown) => {
    if (!(error instanceof Error) || 'code' in error) throw error;
    throw new Refusal(`The record of job ${targetLine(job_id)} can't be read. ${error.message}`);
  });
  if (job !== undefined) return job;
  throw new Refusal(
    `This session has no job ${JSON.stringify(targetLine(job_id))}; jobs of other sessions can't be reached. ${listed(await jobs.list())}`,
  );
}

function listed(jobs: Job[]): string {
  if (jobs.length === 0) return 'It has started no job so far: use bash with background: true.';
  const named = jobs
    .slice(0, JOBS_NAMED)
    .map(({ job_id, intent }) => `\n- ${job_id}: ${targetLine(intent.plan.command)}`);
  const more = jobs.length > JOBS_NAMED ? `\nand ${count(jobs.length - JOBS_NAMED, 'older one')}` : '';
  return `Its jobs, the newest first:${named.join('')}${more}`;
}
