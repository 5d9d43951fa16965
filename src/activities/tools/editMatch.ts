/**
 * Where a text is in a file and what stands there instead, byte by byte. Strings here are byte strings.
 *
 * Line ends are the file's own affair: where the old text has LF alone, it matches CRLF too, and what is put
 * in gets the ends of its place. Lines that old and new text share are not touched at all, so in a file of
 * mixed ends each keeps its own.
 */
import { linesWithEnds } from './byteString.ts';

/** A piece of the file, from `start` to before `end`. */
export interface Span {
  start: number;
  end: number;
}

/** One replacement: `insert` stands where `start` to `end` was. */
export interface Splice extends Span {
  insert: string;
}

/** Each place where `old` stands, overlapping ones too. */
export function findSpans(file: string, old: string): Span[] {
  const ignoresCr = old.includes('\n') && !old.includes('\r') && file.includes('\r\n');
  if (!ignoresCr) return offsetsOf(file, old).map((start) => ({ start, end: start + old.length }));
  const flat = file.replaceAll('\r\n', '\n');
  const dropped = droppedCrs(file);
  return offsetsOf(flat, old).map((start) => ({
    start: start + countBelow(dropped, start),
    end: start + old.length + countBelow(dropped, start + old.length),
  }));
}

/** What to change so that `replacement` stands at `span`, where `old` matched: as little as can be. */
export function spliceFor(file: string, span: Span, old: string, replacement: string): Splice {
  if (old.includes('\r') || replacement.includes('\r')) return { ...span, insert: replacement };
  const oldLines = linesWithEnds(old);
  const newLines = linesWithEnds(replacement);
  const inFile = linesWithEnds(file.slice(span.start, span.end));
  const shortest = Math.min(oldLines.length, newLines.length);
  let head = 0;
  while (head < shortest && oldLines[head] === newLines[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && oldLines.at(-1 - tail) === newLines.at(-1 - tail)) tail += 1;
  const start = span.start + inFile.slice(0, head).join('').length;
  const end = span.end - inFile.slice(inFile.length - tail).join('').length;
  const insert = newLines.slice(head, newLines.length - tail).join('');
  return {
    start,
    end,
    insert: endAt(file, start, end) === '\r\n' ? insert.replaceAll('\n', '\r\n') : insert,
  };
}

/** The file with that one change. */
export function splice(file: string, { start, end, insert }: Splice): string {
  return file.slice(0, start) + insert + file.slice(end);
}

/** How lines end in a piece of the file, else just after it, else just before it. */
function endAt(file: string, start: number, end: number): '\n' | '\r\n' {
  const next = file.indexOf('\n', start);
  const at = next === -1 ? file.lastIndexOf('\n', end) : next;
  return at > 0 && file[at - 1] === '\r' ? '\r\n' : '\n';
}

function offsetsOf(file: string, old: string): number[] {
  const offsets: number[] = [];
  for (let at = file.indexOf(old); at !== -1; at = file.indexOf(old, at + 1)) offsets.push(at);
  return offsets;
}

/** For each CR of a CRLF: where its LF is once all of those CRs are gone. */
function droppedCrs(file: string): number[] {
  const dropped: number[] = [];
  for (let at = file.indexOf('\r\n'); at !== -1; at = file.indexOf('\r\n', at + 2))
    dropped.push(at - dropped.length);
  return dropped;
}

/** How many of the ascending numbers are below `limit`. */
function countBelow(numbers: number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
