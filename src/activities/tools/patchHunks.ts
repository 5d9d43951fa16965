/**
 * Hunks on a file's bytes. A hunk's lines must stand in the file exactly, at one place; line ends don't
 * count, and each line of the file keeps its own. Strings of the file are byte strings.
 */
import { Refusal } from '../workspace/refusal.ts';
import { byteStringToText, linesWithEnds, textToByteString } from './byteString.ts';
import { describeNearest } from './editHints.ts';
import type { Hunk } from './patchGrammar.ts';

const LINES_NAMED_MAX = 20;

interface FileLine {
  text: string;
  end: '' | '\n' | '\r\n';
}

/** What becomes of the file's lines, by their index. */
interface LineChanges {
  removed: Set<number>;
  kept: Set<number>;
  /** Lines that come before the line of that index. */
  inserted: Map<number, string[]>;
}

/** The file with all hunks applied. Throws Refusal when one is not found, or at several places. */
export function applyHunks(file: string, hunks: Hunk[], path: string): string {
  const lines = linesWithEnds(file).map(splitEnd);
  const changes: LineChanges = { removed: new Set(), kept: new Set(), inserted: new Map() };
  for (const hunk of hunks) mark(hunk, locate(hunk, lines, path), changes, path);
  return assemble(lines, changes);
}

function splitEnd(line: string): FileLine {
  if (line.endsWith('\r\n')) return { text: line.slice(0, -2), end: '\r\n' };
  return line.endsWith('\n') ? { text: line.slice(0, -1), end: '\n' } : { text: line, end: '' };
}

/** The index of the line that the hunk begins at. */
function locate(hunk: Hunk, lines: FileLine[], path: string): number {
  const old = hunk.lines.filter(({ kind }) => kind !== '+').map(({ text }) => bare(text));
  const anchored = locateAnchors(hunk, lines, path);
  if (old.length === 0) return locateInsertion(hunk, lines, anchored, path);
  const places = placesOf(old, lines).filter(
    (at) => at > anchored.first && (!hunk.at_end || at + old.length === lines.length),
  );
  const [place] = places;
  if (place === undefined) throw notFound(hunk, old, lines, anchored.first, path);
  if (places.length === 1) return place;
  // Right below its anchor there is no doubt which one is meant.
  const below = places.filter((at) => anchored.all.has(at - 1));
  const [only] = below;
  if (below.length === 1 && only !== undefined) return only;
  throw new Refusal(
    `Ambiguous patch: the context of the hunk at line ${hunk.patch_line} of the patch occurs ${places.length} times in ${path}, ` +
      `at lines ${numbered(places)}. Give more lines around the change, or an @@ line that stands shortly before it.`,
  );
}

interface Anchored {
  /** The hunk is below this line; -1: it has no anchor. */
  first: number;
  /** All lines, from `first` on, that are the same anchor. */
  all: Set<number>;
}

function locateAnchors(hunk: Hunk, lines: FileLine[], path: string): Anchored {
  let anchored: Anchored = { first: -1, all: new Set() };
  for (const anchor of hunk.anchors) {
    const found = anchorLines(textToByteString(anchor).trim(), lines, anchored.first + 1);
    const [first] = found;
    if (first === undefined) {
      throw new Refusal(
        `The anchor "@@ ${anchor.slice(0, 200)}" at line ${hunk.patch_line} of the patch was not found in ${path}. ` +
          `Expected a line of the file, as it is, above the change.`,
      );
    }
    anchored = { first, all: new Set(found) };
  }
  return anchored;
}

/** Anchors are named without their indentation, and sometimes only by their beginning. */
function anchorLines(anchor: string, lines: FileLine[], from: number): number[] {
  const indexes = lines.map((_, index) => index).slice(from);
  const same = indexes.filter((index) => lines[index]?.text.trim() === anchor);
  if (same.length > 0) return same;
  return indexes.filter((index) => lines[index]?.text.trim().startsWith(anchor));
}

function placesOf(old: string[], lines: FileLine[]): number[] {
  const places: number[] = [];
  for (let at = 0; at + old.length <= lines.length; at += 1)
    if (old.every((text, index) => lines[at + index]?.text === text)) places.push(at);
  return places;
}

/** A hunk of nothing but new lines. */
function locateInsertion(hunk: Hunk, lines: FileLine[], anchored: Anchored, path: string): number {
  if (hunk.at_end || lines.length === 0) return lines.length;
  if (anchored.all.size === 1) return anchored.first + 1;
  const found = anchored.all.size === 0 ? 'none' : `an anchor that fits lines ${numbered([...anchored.all])}`;
  throw new Refusal(
    `Ambiguous patch: the hunk at line ${hunk.patch_line} of the patch only adds lines to ${path}. Expected context that says ` +
      `where (lines that begin with a space), an @@ line that occurs once, or *** End of File; found ${found}.`,
  );
}

function notFound(hunk: Hunk, old: string[], lines: FileLine[], below: number, path: string): Refusal {
  const where = below >= 0 ? `, below its anchor at line ${below + 1}` : '';
  const end = hunk.at_end ? ', at the end of the file' : '';
  const file = lines.map(({ text }) => text).join('\n');
  return new Refusal(
    `The hunk at line ${hunk.patch_line} of the patch was not found in ${path}${where}${end}. ` +
      `Expected its lines that begin with a space or - exactly as the file has them. ` +
      describeNearest(byteStringToText(file), byteStringToText(old.join('\n'))),
  );
}

function mark(hunk: Hunk, place: number, changes: LineChanges, path: string): void {
  let at = place;
  for (const { kind, text } of hunk.lines) {
    if (kind === '+') {
      changes.inserted.set(at, [...(changes.inserted.get(at) ?? []), textToByteString(text)]);
      continue;
    }
    if (changes.removed.has(at) || (kind === '-' && changes.kept.has(at))) {
      throw new Refusal(
        `The hunk at line ${hunk.patch_line} of the patch overlaps another one at line ${at + 1} of ${path}. ` +
          `Put changes of the same lines into one hunk.`,
      );
    }
    (kind === '-' ? changes.removed : changes.kept).add(at);
    at += 1;
  }
}

/** All lines that stay, with their own ends; new ones have the end of the line that they follow or replace. */
function assemble(lines: FileLine[], { removed, inserted }: LineChanges): string {
  const result: FileLine[] = [];
  for (let index = 0; index <= lines.length; index += 1) {
    const end = endNear(lines, index);
    for (const text of inserted.get(index) ?? []) result.push({ text: bareFor(text, end), end });
    const line = lines[index];
    if (line && !removed.has(index)) result.push(line);
  }
  const lacksLastEnd = lines.at(-1)?.end === '';
  const addsLast = (inserted.get(lines.length)?.length ?? 0) > 0;
  return result
    .map(({ text, end }, index) => {
      if (index < result.length - 1) return text + (end || endNear(lines, lines.length));
      return lacksLastEnd && addsLast ? text : text + end;
    })
    .join('');
}

/** The end of the line above `index`; the one below, or the nearest above, where that has none. */
function endNear(lines: FileLine[], index: number): '\n' | '\r\n' {
  for (let above = index - 1; above >= 0; above -= 1) {
    const end = lines[above]?.end;
    if (end) return end;
  }
  return lines[index]?.end || '\n';
}

/** A line of the patch in bytes, without the CR of a line end. */
function bare(text: string): string {
  return textToByteString(text.endsWith('\r') ? text.slice(0, -1) : text);
}

function bareFor(text: string, end: '\n' | '\r\n'): string {
  return end === '\r\n' && text.endsWith('\r') ? text.slice(0, -1) : text;
}

function numbered(indexes: number[]): string {
  const shown = indexes.slice(0, LINES_NAMED_MAX).map((index) => index + 1);
  return `${shown.join(', ')}${indexes.length > LINES_NAMED_MAX ? ' and more' : ''}`;
}
