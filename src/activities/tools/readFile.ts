/**
 * read_file: the lines of a file as they are, below one line of facts.
 *
 * The text is not numbered: edits are byte-exact, so what a model copies must be what the file has, and a
 * number before each line is one more thing that gets copied along. The range above the text places it;
 * `search` gives line numbers where they are wanted.
 */
import * as z from 'zod';
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { ToolOutcome } from '../../domain/tool.ts';
import { describeMissing } from '../workspace/nearNames.ts';
import { resolveInWorkspace, type WorkspacePath } from '../workspace/paths.ts';
import { Interrupted, Refusal, settle } from '../workspace/refusal.ts';
import { chunksOf, withFile } from '../workspace/regularFile.ts';
import { type FileView, isBinary, LINE_SHOWN_MAX_BYTES, lineText, viewFile } from './fileView.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { count, repeatable, targetLine } from './wording.ts';

const NAME = 'read_file';
/** Room for the line of facts, without the path. */
const HEADER_MAX_BYTES = 1024;
const TEXT_MAX_BYTES = OUTPUT_MAX_BYTES - HEADER_MAX_BYTES;
const BINARY_SHOWN_BYTES = 16;
const BOM = '\ufeff';

const schema = z.strictObject({
  path: z.string().describe('File to read, relative to the workspace.'),
  offset: z.int().min(1).optional().describe('First line to show, counted from 1. Left out: 1.'),
  limit: z.int().min(1).optional().describe('Lines to show. Left out: as many as fit.'),
});
type Args = z.infer<typeof schema>;

export const readFile = defineTool<Args>({
  name: NAME,
  description:
    `Reads a text file: one line of facts in brackets (lines, size, version, line ends), then the text exactly as ` +
    `it is, without line numbers. Shows up to ${TEXT_MAX_BYTES} bytes of whole lines and says how to go on; a line ` +
    `is cut after ${LINE_SHOWN_MAX_BYTES} bytes. A part counts as having read the file, for later edits. ` +
    `Binary files are described, not shown.`,
  schema,
  effect: () => 'read',
  target: ({ path }) => targetLine(path),
  run: (args, context) => settle(() => run(args, context)),
  reconcile: repeatable(NAME),
});

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  const path = await resolveInWorkspace(context.workspace, args.path);
  const view = await viewOf(path, args, context);
  if (!view)
    throw new Refusal(await describeMissing(context.workspace, path), [
      { path: path.relative, version: null },
    ]);
  const versions = [{ path: path.relative, version: view.version }];
  if (isBinary(view)) return { status: 'success', output: describeBinary(path, view), versions };
  const first = args.offset ?? 1;
  if (first > Math.max(1, view.lines)) {
    throw new Refusal(
      `Expected an offset of at most ${view.lines}, the number of lines of ${path.relative}; found ${first}.`,
      versions,
    );
  }
  return { status: 'success', output: show(path, view, first), versions };
}

async function viewOf(path: WorkspacePath, args: Args, context: ToolContext): Promise<FileView | undefined> {
  const wanted = {
    first_line: args.offset ?? 1,
    lines: args.limit ?? Number.MAX_SAFE_INTEGER,
    max_bytes: TEXT_MAX_BYTES,
  };
  try {
    return await withFile(path, (file) => viewFile(chunksOf(file, context.signal), wanted));
  } catch (error) {
    if (context.signal.aborted) throw new Interrupted('Interrupted while reading; nothing was changed.');
    throw error;
  }
}

function show(path: WorkspacePath, view: FileView, first: number): string {
  let room = TEXT_MAX_BYTES - Buffer.byteLength(path.relative);
  let clipped = 0;
  const shown: string[] = [];
  for (const line of view.kept) {
    const { text, clipped: isClipped } = lineText(line);
    room -= Buffer.byteLength(text);
    if (room < 0) break;
    if (isClipped) clipped += 1;
    shown.push(text);
  }
  const text = shown.join('');
  const facts = [
    rangeOf(view, first, first + shown.length - 1),
    count(view.bytes, 'byte'),
    `version ${view.version}`,
  ].join(', ');
  const remarks = remarksOn(view, text, first + shown.length, clipped);
  return `[${path.relative}: ${[facts, ...remarks].join('. ')}.]\n${text.startsWith(BOM) ? text.slice(1) : text}`;
}

function rangeOf(view: FileView, first: number, last: number): string {
  if (view.lines === 0) return 'an empty file';
  if (first === 1 && last === view.lines) return `all ${count(view.lines, 'line')}`;
  return `lines ${first} to ${last} of ${view.lines}`;
}

function remarksOn(view: FileView, text: string, next: number, clipped: number): string[] {
  const remarks: string[] = [];
  if (view.crlf_lines > 0) {
    const all = view.ends_with_newline ? view.lines : view.lines - 1;
    remarks.push(
      view.crlf_lines === all
        ? 'Line ends are CRLF'
        : `Line ends are mixed: ${view.crlf_lines} of ${all} are CRLF`,
    );
  }
  if (text.startsWith(BOM)) remarks.push('It begins with a byte order mark, which is not shown');
  if (view.lines > 0 && !view.ends_with_newline) remarks.push('The last line has no line end');
  if (text.includes('\ufffd'))
    remarks.push('U+FFFD stands for bytes that are no UTF-8; edits elsewhere keep them');
  if (clipped > 0)
    remarks.push(
      `${count(clipped, 'long line')} cut after ${LINE_SHOWN_MAX_BYTES} bytes; bash can show more (cut -b)`,
    );
  if (next <= view.lines) remarks.push(`Go on with offset ${next}`);
  return remarks;
}

function describeBinary(path: WorkspacePath, view: FileView): string {
  const start = view.start.subarray(0, BINARY_SHOWN_BYTES);
  const utf16 = (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
  const kind = utf16 ? 'text in UTF-16' : 'a binary file';
  const hex = start.toString('hex').replaceAll(/(..)(?=.)/g, '$1 ');
  return (
    `[${path.relative}: ${kind}, ${count(view.bytes, 'byte')}, version ${view.version}. Not shown. ` +
    `It begins with the bytes ${hex}. Use bash to look into it (file, xxd, iconv).]`
  );
}
