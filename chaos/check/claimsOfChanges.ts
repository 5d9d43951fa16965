/** Claims about files, commits and requests, against what is there. */
import type { PlannedCall } from '../load/calls.ts';
import { readClaim, type ClaimCheck } from './claim.ts';
import { times, type Evidence } from './evidence.ts';

export const checkWrite: ClaimCheck = (evidence, call, claim) => {
  if (claim.says === 'unknown') return ['told unknown, and nobody else writes these files'];
  const happened = claim.says === 'result' && claim.status === 'success';
  return [...textProblems(evidence, call, happened), ...removalProblems(evidence, call, happened)].map(
    (problem) => `told ${saidOf(claim)}, and ${problem}`,
  );
};

/** A read shows what the calls before it have written, and nothing of those that failed. */
export const checkRead: ClaimCheck = (evidence, call, claim) => {
  const [path = ''] = call.files;
  if (claim.says !== 'result' || claim.status === 'cancelled') return [];
  return writersBefore(evidence, call, path).flatMap((writer) => {
    const said = readClaim(evidence, writer);
    if (said === undefined || said.says === 'unknown') return [];
    const happened = said.says === 'result' && said.status === 'success';
    const shown = claim.text.includes(writer.token);
    if (happened === shown) return [];
    return [
      `it ${shown ? 'shows' : 'lacks'} the text of ${writer.call_id}, of which was told: ${saidOf(said)}`,
    ];
  });
};

export const checkCommit: ClaimCheck = (evidence, call, claim) => {
  const count = times(evidence.world.committed, call.token);
  if (claim.says === 'unknown') return ['told unknown, and nobody else commits'];
  const happened = claim.says === 'result' && claim.status === 'success';
  return happened === (count === 1) ? [] : [`told ${saidOf(claim)}, and it is committed ${count} times`];
};

/** Unknown is allowed where it was sent: a service that is not idempotent can't be asked again. */
export const checkRequest: ClaimCheck = (evidence, call, claim) => {
  const count = evidence.world.arrivals.filter(({ token }) => token === call.token).length;
  if (claim.says === 'not run') return count > 0 ? [`told not run, and it arrived ${count} times`] : [];
  if (claim.says === 'result' && claim.status === 'success' && count !== 1)
    return [`told success, and it arrived ${count} times`];
  return [];
};

function textProblems(
  { world, calls }: Evidence,
  { files, token }: PlannedCall,
  happened: boolean,
): string[] {
  return files
    .filter((path) => !calls.some(({ removes }) => removes?.includes(path)))
    .map((path) => ({ path, count: times(world.files.get(path) ?? [], token) }))
    .filter(({ count }) => happened !== (count === 1))
    .map(({ path, count }) => `${path} has its text ${count} times`);
}

function removalProblems(evidence: Evidence, { removes = [] }: PlannedCall, happened: boolean): string[] {
  return removes.flatMap((path) => {
    const isThere = evidence.world.files.has(path);
    if (happened) return isThere ? [`${path} is still there`] : [];
    return isThere || !wasWritten(evidence, path) ? [] : [`${path} is gone`];
  });
}

function saidOf(claim: Parameters<ClaimCheck>[2]): string {
  return claim.says === 'result' ? claim.status : claim.says;
}

function writersBefore({ calls }: Evidence, call: PlannedCall, path: string): PlannedCall[] {
  return calls
    .slice(0, calls.indexOf(call))
    .filter(({ kind, files }) => kind !== 'read' && files.includes(path));
}

function wasWritten(evidence: Evidence, path: string): boolean {
  return evidence.calls
    .filter(({ kind, files }) => kind === 'write' && files.includes(path))
    .every((writer) => {
      const said = readClaim(evidence, writer);
      return said?.says === 'result' && said.status === 'success';
    });
}
