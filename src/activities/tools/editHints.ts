/** Why a text was not found, as far as it can be told: what the file has instead, and where. */

/** Larger files are not searched for what is nearly the same. */
const HINT_FILE_MAX_BYTES = 4 * 1024 * 1024;
const SHOWN_LINES_MAX = 6;
const SHOWN_LINE_MAX_CHARS = 200;

interface Fold {
  /** What two texts differ in when only this fold makes them equal. */
  difference: string;
  fold: (line: string) => string;
}

const WIDEST_FOLD: Fold = {
  difference: 'blanks or indentation (tabs, spaces)',
  fold: (line) => plainSigns(line).replaceAll(/\s+/g, ' ').trim(),
};

/** From the slightest difference to the largest; each takes the ones before it along. */
const FOLDS: Fold[] = [
  { difference: 'its line ends (CRLF or LF)', fold: (line) => line.replace(/\r$/, '') },
  { difference: 'blanks at line ends', fold: (line) => line.trimEnd() },
  {
    difference: 'typographic signs (smart quotes, dashes, non-breaking spaces)',
    fold: (line) => plainSigns(line).trimEnd(),
  },
  WIDEST_FOLD,
];

/** A sentence or two about the nearest thing to `old` in `file`; both are decoded text. */
export function describeNearest(file: string, old: string): string {
  if (file.length > HINT_FILE_MAX_BYTES) return 'Read the place again and copy it exactly.';
  const fileLines = file.split('\n');
  const oldLines = old.split('\n');
  for (const { difference, fold } of FOLDS) {
    const line = findFolded(fileLines, oldLines, fold);
    if (line !== undefined) {
      return (
        `The same text but for ${difference} is at line ${line}. ` +
        `The file has there:\n${quote(fileLines.slice(line - 1, line - 1 + oldLines.length))}\nCopy that exactly.`
      );
    }
  }
  return describeParting(fileLines, oldLines) ?? describeStrange(old);
}

/** The line, from 1, where `oldLines` stand once both are folded. */
function findFolded(
  fileLines: string[],
  oldLines: string[],
  fold: (line: string) => string,
): number | undefined {
  const wanted = oldLines.map(fold).join('\n');
  if (wanted.trim() === '') return undefined;
  const folded = fileLines.map(fold).join('\n');
  const at = folded.indexOf(wanted);
  return at === -1 ? undefined : folded.slice(0, at).split('\n').length;
}

/** Where the first line is found and a later one is not. */
function describeParting(fileLines: string[], oldLines: string[]): string | undefined {
  const { fold } = WIDEST_FOLD;
  const wanted = oldLines.map(fold);
  const first = wanted.findIndex((line) => line !== '');
  if (first === -1) return undefined;
  const at = fileLines.findIndex((line) => fold(line).endsWith(wanted[first] ?? ''));
  if (at === -1) return undefined;
  const there = fileLines.slice(Math.max(0, at - first));
  const parted = wanted.findIndex((line, index) => index > first && line !== fold(there[index] ?? ''));
  if (parted === -1) return undefined;
  return (
    `Its beginning is at line ${at + 1}, but it differs from line ${at - first + parted + 1} on: expected ` +
    `${quoteLine(oldLines[parted] ?? '')}, found ${quoteLine(there[parted] ?? '')}.`
  );
}

function describeStrange(old: string): string {
  if (old.includes('\ufffd'))
    return 'It has U+FFFD, which stands for bytes that are no UTF-8 and can not be copied: choose a piece without it.';
  return 'Not even its first line was found. Read the file again and copy the text exactly.';
}

function plainSigns(line: string): string {
  return line
    .replaceAll(/[\u2018\u2019\u201A\u201B\u2032]/g, "'")
    .replaceAll(/[\u201C\u201D\u201E\u201F\u2033]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, ' ')
    .replaceAll(/\u200B|\u200C|\u200D|\u2060|\uFEFF/g, '')
    .replaceAll('\u2026', '...')
    .normalize('NFC');
}

function quote(lines: string[]): string {
  const shown = lines.slice(0, SHOWN_LINES_MAX).map(quoteLine);
  const left = lines.length - shown.length;
  return [...shown, ...(left > 0 ? [`(and ${left} more)`] : [])].join('\n');
}

/** As JSON, so that blanks and line ends can be seen; what JSON leaves as it is, is escaped too. */
function quoteLine(line: string): string {
  const json = JSON.stringify(line.slice(0, SHOWN_LINE_MAX_CHARS));
  return json.replaceAll(
    /[\u007F-\u00A0\u2000-\u200F\u2028\u2029\u202F\u205F\u2060\u3000\uFEFF]/g,
    (sign) => {
      return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
    },
  );
}
