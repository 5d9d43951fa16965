/**
 * The patch language that coding models are trained on (OpenAI's apply_patch):
 *
 *   *** Begin Patch
 *   *** Add File: path         then only lines with +
 *   *** Delete File: path
 *   *** Update File: path      then, optionally, *** Move to: path, then hunks:
 *   @@ an earlier line         optional anchor(s); then lines with ' ' (stays), '-' (goes), '+' (comes)
 *   *** End of File            optional: the hunk stands at the file's end
 *   *** End Patch
 */

/** One line of a hunk. */
interface HunkLine {
  kind: ' ' | '-' | '+';
  text: string;
}

export interface Hunk {
  /** Lines after which the hunk is to be looked for, outermost first. */
  anchors: string[];
  lines: HunkLine[];
  at_end: boolean;
  /** In the patch, from 1: for messages. */
  patch_line: number;
}

export type FileOperation =
  | { kind: 'add'; path: string; content: string }
  | { kind: 'delete'; path: string }
  | { kind: 'update'; path: string; move_to: string | null; hunks: Hunk[] };

/** Thrown for a patch that does not follow the grammar; says where, what was expected and what was found. */
export class PatchSyntaxError extends Error {
  constructor(line: number, problem: string) {
    super(`The patch can't be read, at its line ${line}: ${problem}`);
    this.name = 'PatchSyntaxError';
  }
}

const BEGIN = '*** Begin Patch';
const END = '*** End Patch';
const ADD = '*** Add File: ';
const DELETE = '*** Delete File: ';
const UPDATE = '*** Update File: ';
const MOVE = '*** Move to: ';
const END_OF_FILE = '*** End of File';
/** What unified diffs say, and what has no meaning here. */
const DIFF_RANGE = /^-\d+(,\d+)? \+\d+(,\d+)? @@ ?/;
const NO_NEWLINE_REMARK = '\\ No newline at end of file';

/** The operations of a patch, in its order. Throws PatchSyntaxError. */
export function parsePatch(patch: string): FileOperation[] {
  const lines = new PatchLines(patch);
  lines.expect(BEGIN);
  const operations: FileOperation[] = [];
  while (lines.current !== END) operations.push(parseOperation(lines));
  if (operations.length === 0) throw lines.problem(`expected a file operation, found ${END}.`);
  lines.expect(END);
  lines.expectNothing();
  return operations;
}

/** The paths that a patch names, also when it can't be parsed: for showing what a call is about. */
export function pathsNamed(patch: string): string[] {
  return [...patch.matchAll(/^\*\*\* (?:Add File|Delete File|Update File|Move to): (.+)$/gm)].map(
    ([, path = '']) => path.trim(),
  );
}

/** The lines of a patch and the place that is being read. */
class PatchLines {
  readonly #lines: string[];
  #at = 0;

  constructor(patch: string) {
    const lines = patch.split('\n');
    const begin = lines.findIndex((line) => line.trim() !== '');
    // A patch that has CR at every line end was written so; one that has them here and there means them.
    const everyLineHasCr = lines
      .slice(begin)
      .every((line, index, all) => line.endsWith('\r') || index === all.length - 1);
    this.#lines = everyLineHasCr ? lines.map((line) => line.replace(/\r$/, '')) : lines;
    this.#at = Math.max(0, begin);
  }

  /** The line being read; markers without the blanks after them. */
  get current(): string {
    const line = this.#lines[this.#at];
    if (line === undefined) throw this.problem(`expected ${END}, found the patch's end.`);
    return line.startsWith('***') ? line.trimEnd() : line;
  }

  get number(): number {
    return this.#at + 1;
  }

  next(): string {
    const line = this.current;
    this.#at += 1;
    return line;
  }

  expect(marker: string): void {
    if (this.current !== marker)
      throw this.problem(`expected ${marker}, found ${JSON.stringify(this.current.slice(0, 80))}.`);
    this.#at += 1;
  }

  expectNothing(): void {
    const at = this.#lines.findIndex((line, index) => index >= this.#at && line.trim() !== '');
    if (at === -1) return;
    const found = JSON.stringify(this.#lines[at]?.slice(0, 80));
    throw new PatchSyntaxError(
      at + 1,
      `expected nothing after ${END}, found ${found}. Put all files in one patch.`,
    );
  }

  /** The path after `marker` when the line has it. */
  pathAfter(marker: string): string | undefined {
    if (!this.current.startsWith(marker)) return undefined;
    const path = this.next().slice(marker.length).trim();
    if (path === '') throw this.problem(`expected a path after ${marker.trim()}, found none.`, -1);
    return path;
  }

  problem(text: string, offset = 0): PatchSyntaxError {
    return new PatchSyntaxError(this.number + offset, text);
  }
}

function parseOperation(lines: PatchLines): FileOperation {
  const added = lines.pathAfter(ADD);
  if (added !== undefined) return { kind: 'add', path: added, content: parseAddedLines(lines) };
  const deleted = lines.pathAfter(DELETE);
  if (deleted !== undefined) return { kind: 'delete', path: deleted };
  const updated = lines.pathAfter(UPDATE);
  if (updated === undefined) {
    throw lines.problem(
      `expected ${ADD}…, ${DELETE}…, ${UPDATE}… or ${END}, found ${JSON.stringify(lines.current.slice(0, 80))}.`,
    );
  }
  const move_to = lines.pathAfter(MOVE) ?? null;
  const hunks = parseHunks(lines);
  if (hunks.length === 0 && move_to === null)
    throw lines.problem(`expected a hunk with lines to remove (-) or add (+) for ${updated}, found none.`);
  return { kind: 'update', path: updated, move_to, hunks };
}

function parseAddedLines(lines: PatchLines): string {
  let content = '';
  while (!lines.current.startsWith('***')) {
    const line = lines.next();
    if (!line.startsWith('+')) {
      throw lines.problem(
        `expected + before each line of a new file, found ${JSON.stringify(line.slice(0, 80))}.`,
        -1,
      );
    }
    content += `${line.slice(1)}\n`;
  }
  return content;
}

function parseHunks(lines: PatchLines): Hunk[] {
  const hunks: Hunk[] = [];
  while (!lines.current.startsWith('***')) hunks.push(parseHunk(lines));
  return hunks;
}

function parseHunk(lines: PatchLines): Hunk {
  const hunk: Hunk = { anchors: [], lines: [], at_end: false, patch_line: lines.number };
  while (lines.current.startsWith('@@')) {
    const anchor = lines.next().slice(2).replace(/^ /, '').replace(DIFF_RANGE, '').replace(/ @@$/, '');
    if (anchor.trim() !== '') hunk.anchors.push(anchor);
  }
  let blank_tail = 0;
  while (!lines.current.startsWith('***') && !lines.current.startsWith('@@')) {
    const line = lines.next();
    blank_tail = line === '' ? blank_tail + 1 : 0;
    if (line !== NO_NEWLINE_REMARK) hunk.lines.push(parseHunkLine(line, lines));
  }
  // Wholly empty lines before a marker set the patch out; they are not context.
  hunk.lines.splice(hunk.lines.length - blank_tail);
  if (lines.current === END_OF_FILE) {
    hunk.at_end = true;
    lines.next();
  }
  if (!hunk.lines.some(({ kind }) => kind !== ' '))
    throw new PatchSyntaxError(
      hunk.patch_line,
      'expected lines to remove (-) or add (+) in this hunk, found none.',
    );
  return hunk;
}

/** A blank line of the file, whose leading space editors and models drop, is context. */
function parseHunkLine(line: string, lines: PatchLines): HunkLine {
  if (line === '' || line === '\r') return { kind: ' ', text: line };
  const [kind] = line;
  if (kind === ' ' || kind === '-' || kind === '+') return { kind, text: line.slice(1) };
  throw lines.problem(
    `expected a line that begins with a space, - or +, found ${JSON.stringify(line.slice(0, 80))}.`,
    -1,
  );
}
