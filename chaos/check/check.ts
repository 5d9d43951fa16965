/** Holds the world against the log, session by session. */
import { checkClaims } from './claims.ts';
import { checkEffects } from './effects.ts';
import type { Evidence } from './evidence.ts';
import { checkLog } from './log.ts';
import { checkMessages } from './messages.ts';
import { checkPayments } from './payments.ts';
import { checkRuns } from './runs.ts';
import type { Violation } from './verdict.ts';

const CHECKS = [checkMessages, checkEffects, checkClaims, checkRuns, checkLog, checkPayments];

/** Everything that is wrong with a session. */
export function check(evidence: Evidence): Violation[] {
  return CHECKS.flatMap((one) => one(evidence));
}
