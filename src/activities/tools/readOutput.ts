/** read_output: any part of an earlier call's whole output, by bytes, whatever the bytes are. */
import * as z from 'zod';
import type { ToolOutcome } from '../../domain/tool.ts';
import { hasCode } from '../../host/files.ts';
import { Refusal, settle } from '../workspace/refusal.ts';
import { TEXT_PAGE_MAX_BYTES, textPage } from './textPage.ts';
import { defineTool, type StoredOutput, type ToolContext } from './tool.ts';
import { repeatable, targetLine } from './wording.ts';

const NAME = 'read_output';

const schema = z.strictObject({
  call_id: z.string().describe('The call whose output is read, as named where its output was cut.'),
  offset: z.int().min(0).optional().describe('First byte to show, counted from 0. Left out: 0.'),
  limit: z
    .int()
    .min(1)
    .optional()
    .describe(`Bytes to show, at most ${TEXT_PAGE_MAX_BYTES}. Left out: ${TEXT_PAGE_MAX_BYTES}.`),
});
type Args = z.infer<typeof schema>;

export const readOutput = defineTool<Args>({
  name: NAME,
  description:
    `Reads any part of the whole output of an earlier call, whose result showed only its head and tail. ` +
    `Shows up to ${TEXT_PAGE_MAX_BYTES} bytes and says how to go on. To find something in a long output, repeat the ` +
    `command with a filter instead.`,
  schema,
  effect: () => 'read',
  target: ({ call_id }) => targetLine(call_id),
  run: (args, context) => settle(() => run(args, context)),
  reconcile: repeatable(NAME),
});

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  const stored = await context.findOutput(args.call_id);
  if (!stored) {
    throw new Refusal(
      `This session has no finished call ${JSON.stringify(args.call_id.slice(0, 200))}. ` +
        `Use the call_id that is named where an output was cut.`,
    );
  }
  const total = stored.blob?.bytes ?? Buffer.byteLength(stored.output);
  const offset = args.offset ?? 0;
  if (offset >= total && total > 0)
    throw new Refusal(`Expected an offset below ${total}, the output's size in bytes; found ${offset}.`);
  const limit = Math.min(args.limit ?? TEXT_PAGE_MAX_BYTES, TEXT_PAGE_MAX_BYTES);
  const source = {
    total,
    at_end: 'This is the end.',
    read: (from: number, length: number) => readBytes(stored, from, length, context),
  };
  return { status: 'success', output: await textPage(source, offset, limit) };
}

async function readBytes(
  stored: StoredOutput,
  offset: number,
  length: number,
  context: ToolContext,
): Promise<Buffer> {
  if (!stored.blob) return Buffer.from(stored.output).subarray(offset, offset + length);
  try {
    return await context.blobs.read(stored.blob, offset, length);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    throw new Refusal(
      `The whole output is not on this host any more (blob ${stored.blob.sha256}). What the call's result showed ` +
        `is all that is left; repeat the call if the rest is needed.`,
    );
  }
}
