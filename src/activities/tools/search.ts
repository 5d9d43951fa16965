/** search: lines that match a regular expression, by ripgrep. */
import * as z from 'zod';
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { ToolOutcome } from '../../domain/tool.ts';
import { Refusal, settle } from '../workspace/refusal.ts';
import { GLOB_DESCRIPTION, ripgrep, type RipgrepResult, SEARCH_MAX_MS, withoutDot } from './ripgrep.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { cleanText, takeStart } from './utf8.ts';
import { count, repeatable, targetLine } from './wording.ts';

const NAME = 'search';
const LINE_MAX_BYTES = 300;
const HEADER_MAX_BYTES = 1024;
const LIST_MAX_BYTES = OUTPUT_MAX_BYTES - HEADER_MAX_BYTES;
/** Matches are counted up to here; then ripgrep is stopped. */
const FOUND_MAX_BYTES = 1024 * 1024;

const schema = z.strictObject({
  pattern: z
    .string()
    .describe(
      'Regular expression (Rust syntax, look-around allowed). Case-sensitive; start with (?i) to ignore case.',
    ),
  path: z
    .string()
    .optional()
    .describe('Folder or file, relative to the workspace. Left out: all of the workspace.'),
  glob: z.string().optional().describe(GLOB_DESCRIPTION),
});
type Args = z.infer<typeof schema>;

export const search = defineTool<Args>({
  name: NAME,
  description:
    `Finds the lines that match a regular expression, shown as path:line:text, sorted by path. Hidden files are ` +
    `searched; what git ignores is not, unless the glob or the path names it. Lines are cut at ${LINE_MAX_BYTES} ` +
    `bytes, the list at ${LIST_MAX_BYTES} bytes, the time at ${SEARCH_MAX_MS / 1000} s.`,
  schema,
  effect: () => 'read',
  target: ({ pattern, path, glob }) => targetLine([pattern, path, glob].filter(Boolean).join(' ')),
  run: (args, context) => settle(() => run(args, context)),
  reconcile: repeatable(NAME),
});

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  if (args.pattern === '')
    throw new Refusal('pattern is empty and would match every line. To list files, use list_files.');
  if (args.pattern.includes('\0')) throw new Refusal('pattern has a NUL. Search for it as \\x00.');
  const options = [
    '--line-number',
    '--no-heading',
    '--with-filename',
    '--crlf',
    '--engine=auto',
    `--max-columns=${LINE_MAX_BYTES}`,
    '--max-columns-preview',
    // A pattern that speaks of line ends can only match across lines.
    ...(/\n|\\n/.test(args.pattern) ? ['--multiline'] : []),
    `--regexp=${args.pattern}`,
  ];
  const query = { options, path: args.path, glob: args.glob, max_bytes: FOUND_MAX_BYTES };
  return { status: 'success', output: describe(await ripgrep(query, context)) };
}

function describe(result: RipgrepResult): string {
  const errors = takeStart(Buffer.from(result.errors), 0, HEADER_MAX_BYTES / 2).text;
  const lines = linesOf(result);
  if (lines.length === 0) {
    // Nothing found and something wrong: most often the pattern itself.
    if (errors !== '') throw new Refusal(`Nothing was found, and ripgrep says:\n${errors}`);
    const why =
      result.cut === 'time'
        ? ` until it was stopped after ${SEARCH_MAX_MS / 1000} s: narrow it by path or glob`
        : '';
    return `[no matches${why}. Files that git ignores were not searched.]`;
  }
  let room = LIST_MAX_BYTES;
  const shown = lines.filter((line) => (room -= Buffer.byteLength(line) + 1) >= 0);
  const total = `${result.cut ? 'more than ' : ''}${count(lines.length, 'line')}`;
  const header =
    shown.length === lines.length && !result.cut
      ? total
      : `${shown.length} of ${total}; narrow the search by pattern, path or glob to see the others`;
  const remarks = [
    header,
    ...(result.cut === 'time' ? [`Stopped after ${SEARCH_MAX_MS / 1000} s`] : []),
    ...(errors === '' ? [] : [`Not everything could be searched: ${errors}`]),
  ];
  return `[${remarks.join('. ')}]\n${shown.join('\n')}`;
}

function linesOf({ stdout }: RipgrepResult): string[] {
  const lines = cleanText(stdout).split('\n');
  // What follows the last line end is nothing, or half a line.
  lines.pop();
  return lines.map((line) => withoutDot(line.replace(/\r$/, '')));
}
