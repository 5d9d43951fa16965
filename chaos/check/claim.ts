/** What the model was told of a call in the end, before the kind of call is asked. */
import type { PlannedCall } from '../load/calls.ts';
import { claimOf, eventsOf, type Evidence } from './evidence.ts';

export type Claim =
  | {
      says: 'result';
      text: string;
      status: 'success' | 'failed' | 'cancelled' | 'denied';
      exit_code?: number;
    }
  | { says: 'not run'; text: string }
  | { says: 'unknown'; text: string };

/** What is wrong with a claim; nothing if it is true. */
export type ClaimCheck = (evidence: Evidence, call: PlannedCall, claim: Claim) => string[];

/** What was said of a call in the end; undefined when it was never asked for, or nothing was said. */
export function readClaim(evidence: Evidence, call: PlannedCall): Claim | undefined {
  const text = claimOf(evidence, call);
  if (text === undefined) return undefined;
  if (text.startsWith('UNKNOWN')) return { says: 'unknown', text };
  if (isNotRun(text)) return { says: 'not run', text };
  const result = eventsOf(evidence, call).find((event) => event.type === 'tool_result');
  if (result?.type !== 'tool_result') return { says: 'unknown', text: `(no result in the log) ${text}` };
  const { status, exit_code } = result;
  return { says: 'result', text, status, ...(exit_code === undefined ? {} : { exit_code }) };
}

const NOTHING_DONE = [
  'Not run',
  '[The command was not started',
  '[The job was not started',
  'Interrupted before anything was changed',
  '[Nothing was committed: the run was interrupted first',
  'Nothing was sent',
];

function isNotRun(text: string): boolean {
  return NOTHING_DONE.some((words) => text.startsWith(words));
}
