/** Text that is safe to show, in so many columns. */

/** C0 and C1 controls but for line end and tab, and the marks that turn the direction of writing. */
const HIDDEN = /(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;
const ESCAPE = '\u{1B}';
/** What follows an escape: a control sequence, or an operating system command up to its end (ECMA-48). */
const SEQUENCE = /^(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\p{Cc}]*\p{Cc}?|[()#][0-9A-Za-z]|[=>78cDEHMNOZ\\])/u;
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|[\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;
const EMPTY = /\p{Mark}|\u200B|\u200D|\uFEFF/u;

/**
 * Without what could steer a terminal: a model's words and a command's output are shown, never obeyed.
 * Escape sequences go whole.
 */
export function printable(text: string): string {
  return text
    .split(ESCAPE)
    .map((part, index) => (index === 0 ? part : part.replace(SEQUENCE, '')))
    .join('')
    .replaceAll('\r\n', '\n')
    .replaceAll(HIDDEN, '');
}

/** On one line: line ends and tabs become single blanks. */
export function oneLine(text: string): string {
  return printable(text).replaceAll(/\s+/g, ' ').trim();
}

/** How many columns `text` takes. */
export function widthOf(text: string): number {
  let width = 0;
  for (const point of text) width += widthOfPoint(point);
  return width;
}

/** At most so many columns; what was cut shows as `…`. */
export function clip(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let width = 0;
  let kept = '';
  for (const point of text) {
    width += widthOfPoint(point);
    if (width > columns - 1) break;
    kept += point;
  }
  return `${kept}…`;
}

/** Filled with blanks to so many columns. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** 12,345 */
export function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** `1 run`, `2 runs`. */
export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function widthOfPoint(point: string): number {
  if (EMPTY.test(point)) return 0;
  return WIDE.test(point) ? 2 : 1;
}
