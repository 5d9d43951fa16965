/** The verdicts, and what a violation of one of them says. */
import type { PlannedCall } from '../load/calls.ts';
import { claimOf, eventsOf, type Evidence } from './evidence.ts';

export const VERDICTS = [
  'messages lost',
  'effects doubled',
  'false claims',
  'runs that did not end',
  'log broken',
  'model calls paid twice',
] as const;

export type Verdict = (typeof VERDICTS)[number];

export interface Violation {
  verdict: Verdict;
  session_id: string;
  /** What was expected and what was found. */
  what: string;
  /** Events and files to look at. */
  details: string;
}

/** A violation that concerns the session as a whole. */
export function violation({ told, places }: Evidence, verdict: Verdict, what: string): Violation {
  return { verdict, session_id: told.session_id, what, details: places };
}

/** A violation that concerns one call. */
export function callViolation(
  evidence: Evidence,
  call: PlannedCall,
  verdict: Verdict,
  what: string,
): Violation {
  const lines = [
    `claim: ${JSON.stringify(claimOf(evidence, call))}`,
    ...eventsOf(evidence, call).map((event) => JSON.stringify(event).slice(0, 700)),
    evidence.places,
  ];
  return {
    verdict,
    session_id: evidence.told.session_id,
    what: `${call.call_id} (${call.kind}, ${call.token}): ${what}`,
    details: lines.join('\n      '),
  };
}
