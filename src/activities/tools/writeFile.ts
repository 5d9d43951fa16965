/** write_file: a whole file, created or replaced, byte for byte as given. */
import * as z from 'zod';
import type { ToolOutcome } from '../../domain/tool.ts';
import { resolveForWriting } from '../workspace/paths.ts';
import { reconcileWrites } from '../workspace/reconcileWrites.ts';
import { Refusal, settle } from '../workspace/refusal.ts';
import { lookAt, versionOf } from '../workspace/regularFile.ts';
import { checkVersion } from '../workspace/versions.ts';
import { writeChanges } from '../workspace/writeChanges.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { count, encodingProblem, EXPECTED_VERSION, targetLine, VERSION_PATTERN } from './wording.ts';

const NAME = 'write_file';

const schema = z.strictObject({
  path: z
    .string()
    .describe('File to create or replace, relative to the workspace. Missing folders are made.'),
  content: z.string().describe('The whole new content, exactly as it shall be in the file.'),
  expected_version: z.string().regex(VERSION_PATTERN).optional().describe(EXPECTED_VERSION),
});
type Args = z.infer<typeof schema>;

export const writeFile = defineTool<Args>({
  name: NAME,
  description:
    'Creates a file, or replaces all of an existing one. For a change of a part, use edit_file or apply_patch. ' +
    'A file that exists must have been read before (else READ_FIRST) and be unchanged since (else FILE_CHANGED). ' +
    'Mode and owner of a replaced file are kept. Returns the new version.',
  schema,
  effect: () => 'side_effect',
  target: ({ path }) => targetLine(path),
  run: (args, context) => settle(() => run(args, context)),
  reconcile: (_args, context) => reconcileWrites(context),
});

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  const problem = encodingProblem('content', args.content);
  if (problem) throw new Refusal(problem);
  const path = await resolveForWriting(context.workspace, args.path);
  const now = await lookAt(path);
  const before = now?.version ?? null;
  checkVersion({
    path,
    now: before,
    expected: args.expected_version,
    seen: context.seenVersion(path.relative),
  });
  const content = Buffer.from(args.content);
  const after = versionOf(content);
  const versions = [{ path: path.relative, version: after }];
  if (after === before) {
    return {
      status: 'success',
      output: `${path.relative} has exactly this content already; nothing was written. Version ${after}.`,
      versions,
    };
  }
  const output =
    `${before === null ? 'Created' : 'Replaced'} ${path.relative}: ${count(linesOf(content), 'line')}, ` +
    `${count(content.byteLength, 'byte')}. Version ${after}.`;
  const wanted = { path, before, after, content, like: now?.stats ?? null };
  return writeChanges(NAME, [wanted], { status: 'success', output, versions }, context);
}

function linesOf(content: Buffer): number {
  const ends = content.reduce((sum, byte) => (byte === 0x0a ? sum + 1 : sum), 0);
  return content.length > 0 && content.at(-1) !== 0x0a ? ends + 1 : ends;
}
