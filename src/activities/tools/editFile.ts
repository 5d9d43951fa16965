/** edit_file: one text, which stands in the file exactly once, replaced by another; all other bytes stay. */
import * as z from 'zod';
import type { ToolOutcome } from '../../domain/tool.ts';
import { resolveForWriting, type WorkspacePath } from '../workspace/paths.ts';
import { reconcileWrites } from '../workspace/reconcileWrites.ts';
import { Refusal, settle } from '../workspace/refusal.ts';
import { type LoadedFile, loadFile, versionOf } from '../workspace/regularFile.ts';
import { checkVersion } from '../workspace/versions.ts';
import { writeChanges } from '../workspace/writeChanges.ts';
import { describeMissing } from '../workspace/nearNames.ts';
import { bytesToString, lineNumberAt, stringToBytes, textToByteString } from './byteString.ts';
import { describeNearest } from './editHints.ts';
import { findSpans, type Span, splice, spliceFor } from './editMatch.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { count, encodingProblem, EXPECTED_VERSION, targetLine, VERSION_PATTERN } from './wording.ts';

const NAME = 'edit_file';
const LINES_NAMED_MAX = 20;

const schema = z.strictObject({
  path: z.string().describe('File to edit, relative to the workspace.'),
  old_text: z
    .string()
    .describe('The text to replace, copied exactly from the file, with enough around it to occur only once.'),
  new_text: z.string().describe('What stands there instead, taken literally. Empty removes the old text.'),
  expected_version: z.string().regex(VERSION_PATTERN).optional().describe(EXPECTED_VERSION),
});
type Args = z.infer<typeof schema>;

export const editFile = defineTool<Args>({
  name: NAME,
  description:
    'Replaces one text of a file by another. old_text must be in the file exactly once, blanks included; if it ' +
    'occurs more often, give more of the lines around it. Line ends are adapted to the file (LF in your text ' +
    'matches and becomes CRLF where the file has that); all other bytes stay as they are. The file must have been ' +
    'read before (else READ_FIRST) and be unchanged since (else FILE_CHANGED). Returns the new version.',
  schema,
  effect: () => 'side_effect',
  target: ({ path }) => targetLine(path),
  run: (args, context) => settle(() => run(args, context)),
  reconcile: (_args, context) => reconcileWrites(context),
});

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  checkTexts(args);
  const path = await resolveForWriting(context.workspace, args.path);
  const file = await loadFile(path);
  const seen = context.seenVersion(path.relative);
  checkVersion({ path, now: file?.version ?? null, expected: args.expected_version, seen });
  if (!file) {
    const missing = await describeMissing(context.workspace, path);
    throw new Refusal(`${missing} Create a file with write_file.`, [{ path: path.relative, version: null }]);
  }
  return replace(args, context, path, file);
}

function checkTexts({ old_text, new_text }: Args): void {
  if (old_text === '') {
    throw new Refusal(
      'old_text is empty, so there is no place to edit. To add text, give a line next to it as old_text and repeat ' +
        'that line in new_text; to write a whole file, use write_file.',
    );
  }
  if (old_text === new_text)
    throw new Refusal('old_text and new_text are the same: there is nothing to change.');
  const problem = encodingProblem('new_text', new_text);
  if (problem) throw new Refusal(problem);
}

function replace(
  args: Args,
  context: ToolContext,
  path: WorkspacePath,
  file: LoadedFile,
): Promise<ToolOutcome> {
  const before = bytesToString(file.bytes);
  const old = textToByteString(args.old_text);
  const span = requireOne(findSpans(before, old), before, path, () =>
    describeNearest(file.bytes.toString('utf8'), args.old_text),
  );
  const change = spliceFor(before, span, old, textToByteString(args.new_text));
  const content = stringToBytes(splice(before, change));
  const after = versionOf(content);
  const first = lineNumberAt(before, change.start);
  const sizes = `${count(change.end - change.start, 'byte')} replaced by ${change.insert.length}`;
  const wanted = { path, before: file.version, after, content, like: file.stats };
  const outcome: ToolOutcome = {
    status: 'success',
    output: `Edited ${path.relative} at line ${first}: ${sizes}. Version ${after}.`,
    versions: [{ path: path.relative, version: after }],
  };
  if (after === file.version)
    return Promise.resolve({ ...outcome, output: `${path.relative} stays as it is: nothing differs.` });
  return writeChanges(NAME, [wanted], outcome, context);
}

function requireOne(spans: Span[], file: string, path: WorkspacePath, nearest: () => string): Span {
  const [span] = spans;
  if (!span) {
    throw new Refusal(
      `old_text was not found in ${path.relative}; nothing was changed. Expected it exactly once, blanks included. ${nearest()}`,
    );
  }
  if (spans.length === 1) return span;
  const lines = spans.slice(0, LINES_NAMED_MAX).map(({ start }) => lineNumberAt(file, start));
  throw new Refusal(
    `old_text occurs ${spans.length} times in ${path.relative}, at lines ${lines.join(', ')}` +
      `${spans.length > LINES_NAMED_MAX ? ' and more' : ''}; nothing was changed. ` +
      `Expected it exactly once: give more of the lines around the one that is meant.`,
  );
}
