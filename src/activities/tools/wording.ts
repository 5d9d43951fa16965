/** Words that several tools share. */
import type { Reconciliation } from '../../domain/tool.ts';
import { cleanString } from './utf8.ts';

const TARGET_MAX_CHARS = 200;

/** What a call acts on, for lists and approvals: one line, printable, bounded. */
export function targetLine(text: string): string {
  const line = cleanString(text).replaceAll(/\p{Cc}+/gu, ' ');
  if (line.length <= TARGET_MAX_CHARS) return line;
  // Not half of a character at the cut.
  return `${line.slice(0, TARGET_MAX_CHARS - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The `reconcile` of a tool without effects. */
export function repeatable(tool: string): () => Promise<Reconciliation> {
  return () => Promise.resolve({ status: 'not_run', evidence: `${tool} only reads; it can be repeated.` });
}

/** `1 line`, `2 lines`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Description of an `expected_version` argument. */
export const EXPECTED_VERSION =
  'The version (sha256) that the file must have now. Leave it out: it defaults to the version that you last read or wrote.';

/** What a version looks like. */
export const VERSION_PATTERN = /^[0-9a-f]{64}$/;

/** Text that can be written as UTF-8, or the reason why it can't. */
export function encodingProblem(field: string, text: string): string | undefined {
  if (text.isWellFormed()) return undefined;
  return `${field} has half of a surrogate pair, which is no character and can't be written as UTF-8. Write the whole character.`;
}

/** Description of a `job_id` argument. */
export const JOB_ID = 'The job, as named in the result that started it.';
