/** job_output: any part of what a background command has printed so far. */
import { open } from 'node:fs/promises';
import * as z from 'zod';
import type { ToolOutcome } from '../../domain/tool.ts';
import { hasCode } from '../../host/files.ts';
import { findJob } from '../jobs/findJob.ts';
import { observe } from '../runner/observe.ts';
import { Refusal, settle } from '../workspace/refusal.ts';
import { TEXT_PAGE_MAX_BYTES, textPage } from './textPage.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { JOB_ID, repeatable, targetLine } from './wording.ts';

const NAME = 'job_output';

const schema = z.strictObject({
  job_id: z.string().describe(JOB_ID),
  offset: z
    .int()
    .min(0)
    .optional()
    .describe(
      'First byte to show, counted from 0. Left out: 0. To follow a job, go on where the last page ended.',
    ),
  limit: z
    .int()
    .min(1)
    .optional()
    .describe(`Bytes to show, at most ${TEXT_PAGE_MAX_BYTES}. Left out: ${TEXT_PAGE_MAX_BYTES}.`),
});
type Args = z.infer<typeof schema>;

export const jobOutput = defineTool<Args>({
  name: NAME,
  description:
    `Reads what a job (bash with background: true) has printed so far, stdout and stderr together: up to ${TEXT_PAGE_MAX_BYTES} bytes from an offset. ` +
    'Says how to go on, and whether more may come.',
  schema,
  effect: () => 'read',
  target: ({ job_id }) => targetLine(job_id),
  run: (args, context) => settle(() => run(args, context)),
  reconcile: repeatable(NAME),
});

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  const { proofs, job_id } = await findJob(context.jobs, args.job_id);
  // The state first: a job that has ended by now prints no more.
  const { state } = await observe(proofs);
  const total = await proofs.spoolBytes();
  const offset = args.offset ?? 0;
  if (offset > total) {
    throw new Refusal(
      `Expected an offset of at most ${total}, the bytes that job ${job_id} has printed so far; found ${offset}.`,
    );
  }
  const at_end =
    state === 'running'
      ? `The job is running: what it prints next is at offset ${total}.`
      : `This is the end; job_status says what became of the job.`;
  const limit = Math.min(args.limit ?? TEXT_PAGE_MAX_BYTES, TEXT_PAGE_MAX_BYTES);
  const source = {
    total,
    at_end,
    read: (from: number, length: number) => readPart(proofs.spoolPath, from, Math.min(length, total - from)),
  };
  return { status: 'success', output: await textPage(source, offset, limit) };
}

async function readPart(path: string, offset: number, length: number): Promise<Buffer> {
  try {
    const file = await open(path, 'r');
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return Buffer.alloc(0);
    throw error;
  }
}
