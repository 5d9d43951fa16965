/** A text in one line, for lists, headings and targets. */
import { cleanString } from './utf8.ts';

/** Blanks and line ends folded, nothing unprintable, at most `max_chars`; what was cut ends with `…`. */
export function oneLine(text: string, max_chars: number): string {
  // Cut first: a text may be large. What folds to less than `max_chars` after that loses a little more.
  const line = text
    .slice(0, max_chars * 4)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  if (line.length <= max_chars && text.length <= max_chars * 4) return cleanString(line);
  return `${cleanString(line.slice(0, max_chars - 1).replace(/[\uD800-\uDBFF]$/, ''))}…`;
}
