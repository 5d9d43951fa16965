/** Claims about commands and jobs, against the lines that they left. */
import type { PlannedCall } from '../load/calls.ts';
import type { Claim, ClaimCheck } from './claim.ts';
import { eventsOf, times, type Evidence } from './evidence.ts';

export const checkCommand: ClaimCheck = (evidence, call, claim) => {
  const { started, done } = lines(evidence, call);
  if (claim.says === 'not run')
    return started + done > 0 ? [`told not run, and it began ${started} times`] : [];
  if (claim.says === 'unknown') return unknownProblems(evidence, call, started);
  if (claim.status === 'cancelled') return [];
  if (call.kind === 'bash_last_act')
    return ['told a result, and its runner was killed before it could record one'];
  return resultProblems(evidence, call, claim);
};

export const checkJob: ClaimCheck = (evidence, call, claim) => {
  const { started } = lines(evidence, call);
  if (claim.says === 'not run') return started > 0 ? [`told not run, and it began ${started} times`] : [];
  if (claim.says === 'unknown') return unknownProblems(evidence, call, started);
  if (
    claim.status === 'success' &&
    started !== 1 &&
    !wasStruck(evidence, call) &&
    !wasStopped(evidence, call)
  )
    return [`told started, and it began ${started} times`];
  return [];
};

/** Of job_status, job_output, job_stop: what they say of an end is so. */
export const checkJobView: ClaimCheck = (evidence, call, claim) => {
  const job = evidence.calls.find(({ call_id }) => call_id === call.job_call);
  if (job === undefined || claim.says !== 'result') return [];
  const { done } = lines(evidence, job);
  const code = /has ended: .* with exit code (\d+)/.exec(claim.text)?.[1];
  const problems: string[] = [];
  if (code !== undefined && !wasStopped(evidence, job) && (done !== 1 || Number(code) !== job.exit_code))
    problems.push(
      `told that the job ended with ${code}, and it was done ${done} times (exit ${job.exit_code})`,
    );
  if (/ is lost: /.test(claim.text) && !wasStruck(evidence, job))
    problems.push('told that the job is lost, and its runner was not killed');
  return problems;
};

function resultProblems(evidence: Evidence, call: PlannedCall, claim: Claim & { says: 'result' }): string[] {
  const { started, done } = lines(evidence, call);
  const problems: string[] = [];
  if (started !== 1 || done !== 1)
    problems.push(`told ${claim.status}, and its lines are there ${started} and ${done} times`);
  if (claim.exit_code !== call.exit_code)
    problems.push(`told exit code ${claim.exit_code}, and it was ${call.exit_code}`);
  if ((claim.status === 'success') !== (call.exit_code === 0)) problems.push(`told ${claim.status}`);
  for (const word of ['begun', 'ended'])
    if (!claim.text.includes(`${word} ${call.token}`))
      problems.push(`its output lacks "${word} ${call.token}"`);
  return problems;
}

function unknownProblems(evidence: Evidence, call: PlannedCall, started: number): string[] {
  if (call.kind === 'bash_last_act' || wasStruck(evidence, call)) return [];
  return [`told unknown, and nobody killed its runner; it began ${started} times`];
}

/** A runner of this call was killed, in any attempt. */
export function wasStruck(evidence: Evidence, call: PlannedCall): boolean {
  const ids = new Set(
    eventsOf(evidence, call).flatMap((event) => ('operation_id' in event ? [event.operation_id] : [])),
  );
  return evidence.hits.some(
    ({ operation_id, how }) => how === 'kill' && operation_id !== undefined && ids.has(operation_id),
  );
}

function wasStopped(evidence: Evidence, job: PlannedCall): boolean {
  return evidence.calls.some((call) => call.kind === 'job_stop' && call.job_call === job.call_id);
}

function lines({ world }: Evidence, { token }: PlannedCall): { started: number; done: number } {
  return { started: times(world.started, token), done: times(world.done, token) };
}
