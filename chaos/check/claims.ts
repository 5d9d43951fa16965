/** False claims: what the model was told of each call is held against the world. */
import type { CallKind } from '../load/calls.ts';
import { checkCommand, checkJob, checkJobView } from './claimsOfCommands.ts';
import { checkCommit, checkRead, checkRequest, checkWrite } from './claimsOfChanges.ts';
import { readClaim, type ClaimCheck } from './claim.ts';
import type { Evidence } from './evidence.ts';
import { callViolation, type Violation } from './verdict.ts';

const CHECKS: Record<CallKind, ClaimCheck> = {
  bash: checkCommand,
  bash_last_act: checkCommand,
  job: checkJob,
  job_status: checkJobView,
  job_output: checkJobView,
  job_stop: checkJobView,
  write: checkWrite,
  edit: checkWrite,
  patch: checkWrite,
  read: checkRead,
  commit: checkCommit,
  http: checkRequest,
};

export function checkClaims(evidence: Evidence): Violation[] {
  return evidence.calls.flatMap((call) => {
    const claim = readClaim(evidence, call);
    if (claim === undefined) return [];
    const wrong = CHECKS[call.kind](evidence, call, claim);
    return wrong.map((what) => callViolation(evidence, call, 'false claims', what));
  });
}
