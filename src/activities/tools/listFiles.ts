/** list_files: the files of a folder and below; where these are too many, its entries with their counts. */
import * as z from 'zod';
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { ToolOutcome } from '../../domain/tool.ts';
import { resolveInWorkspace } from '../workspace/paths.ts';
import { Refusal, settle } from '../workspace/refusal.ts';
import { GLOB_DESCRIPTION, ripgrep, withoutDot } from './ripgrep.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { cleanText } from './utf8.ts';
import { count, repeatable, targetLine } from './wording.ts';

const NAME = 'list_files';
/** Names of files that are read before the listing is called incomplete. */
const NAMES_MAX_BYTES = 16 * 1024 * 1024;
const HEADER_MAX_BYTES = 1024;
const LIST_MAX_BYTES = OUTPUT_MAX_BYTES - HEADER_MAX_BYTES;

const schema = z.strictObject({
  path: z.string().optional().describe('Folder, relative to the workspace. Left out: all of the workspace.'),
  glob: z.string().optional().describe(GLOB_DESCRIPTION),
});
type Args = z.infer<typeof schema>;

export const listFiles = defineTool<Args>({
  name: NAME,
  description:
    `Lists all files of a folder and its folders, hidden ones too, one path a line. What git ignores is left out ` +
    `unless the glob or the path names it; empty folders are not shown. If the list is longer than ` +
    `${LIST_MAX_BYTES} bytes, only the folder's own entries are shown, with the number of files in each.`,
  schema,
  effect: () => 'read',
  target: ({ path, glob }) => targetLine([path ?? '.', ...(glob === undefined ? [] : [glob])].join(' ')),
  run: (args, context) => settle(() => run(args, context)),
  reconcile: repeatable(NAME),
});

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  const query = { path: args.path, glob: args.glob, options: ['--files', '--null'] };
  const { stdout, cut, errors } = await ripgrep({ ...query, max_bytes: NAMES_MAX_BYTES }, context);
  const files = cleanNames(stdout, cut !== undefined);
  const { relative } = await resolveInWorkspace(context.workspace, args.path ?? '.');
  const place = targetLine(`${relative}${args.glob === undefined ? '' : `, glob ${args.glob}`}`);
  if (files.length === 0) {
    // A bad glob, for one.
    if (errors !== '') throw new Refusal(`Nothing could be listed: ${errors.slice(0, HEADER_MAX_BYTES)}`);
    return { status: 'success', output: `[no files: ${place}. Files that git ignores are not counted.]` };
  }
  const total = `${cut ? 'more than ' : ''}${count(files.length, 'file')}`;
  const all = files.join('\n');
  if (Buffer.byteLength(all) <= LIST_MAX_BYTES)
    return { status: 'success', output: `[${total}: ${place}]\n${all}` };
  const { shown, left } = fitting(entriesOf(files, relative));
  const more = left > 0 ? ` ${left} more entries are not shown: use a glob.` : '';
  const header = `[${total}: ${place}. Too many to show each; these are the entries.${more} Give a folder's path or a glob to see more.]`;
  return { status: 'success', output: `${header}\n${shown}` };
}

/** Paths relative to the workspace. One with a line end in it is shown as JSON, to keep one path a line. */
function cleanNames(stdout: Buffer, incomplete: boolean): string[] {
  const text = cleanNulSeparated(stdout);
  if (incomplete) text.pop();
  return text
    .filter((name) => name !== '')
    .map(withoutDot)
    .map((name) => (/\p{Cc}/u.test(name) ? JSON.stringify(name) : name));
}

function cleanNulSeparated(stdout: Buffer): string[] {
  const names: string[] = [];
  let from = 0;
  for (let at = stdout.indexOf(0); at !== -1; at = stdout.indexOf(0, from)) {
    names.push(cleanText(stdout.subarray(from, at)));
    from = at + 1;
  }
  names.push(cleanText(stdout.subarray(from)));
  return names;
}

/** The folder's own files, and its folders with the number of files below. */
function entriesOf(files: string[], folder: string): string[] {
  const prefix = folder === '.' ? '' : `${folder}/`;
  const counts = new Map<string, number>();
  for (const file of files) {
    const [name, ...below] = file.slice(prefix.length).split('/');
    const entry = below.length > 0 ? `${prefix}${name}/` : file;
    counts.set(entry, (counts.get(entry) ?? 0) + 1);
  }
  return [...counts].map(([entry, files]) =>
    entry.endsWith('/') ? `${entry} (${count(files, 'file')})` : entry,
  );
}

function fitting(entries: string[]): { shown: string; left: number } {
  let room = LIST_MAX_BYTES;
  const shown = entries.filter((entry) => {
    room -= Buffer.byteLength(entry) + 1;
    return room >= 0;
  });
  return { shown: shown.join('\n'), left: entries.length - shown.length };
}
