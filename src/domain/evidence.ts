/** Words for the model about calls whose end is not known. The same words go to `show` and the Web UI. */
import type { EventOf } from './event.ts';

/** Stands where a call's result would stand when nobody can know it. */
export function unknownResult(evidence: string): string {
  return `UNKNOWN: this call was begun and its result was lost. ${evidence} Nothing was repeated. Check what is true now before you rely on it or do it again.`;
}

/** Stands where a result would stand when the call was found not to have been run, and was not run since. */
export function notRunResult(evidence: string): string {
  return `Not run. ${evidence}`;
}

/** Stands where a result would stand when a person has said what became of the call. */
export function settledResult(recovery: EventOf<'tool_recovery'>): string {
  const words = recovery.status === 'completed' ? 'was done' : 'was not done';
  return `The result of this call was lost. The user says that it ${words}. ${recovery.evidence}`.trim();
}

/** Stands where a result would stand while the call has not ended. */
export const NO_RESULT_YET = 'No result yet: this call has not ended.';

/** Stands where a result would stand when the run ended first. */
export const NEVER_BEGUN = 'Not run: the run ended before this call began.';

/**
 * The result of a call that an interrupt kept from being run. A call that may be repeated was maybe done by
 * the attempt that was lost before, so that nobody may say that it was not.
 */
export function interruptedResult(attempt: number, why: string): string {
  if (attempt === 1) return `Not run: ${why}`;
  return `Not run again: ${why} An attempt before was lost with its worker; look at what it did before you repeat the call.`;
}

/** Stands where a result would stand when the log ends without any word about the call. */
export const NO_RESULT_RECORDED =
  'UNKNOWN: no result of this call is recorded, so it may or may not have had its effect. Check what is true now before you rely on it.';

/** One operation as the `<recovery>` block names it. */
export interface RecoveredOperation {
  recovery: EventOf<'tool_recovery'>;
  tool: string;
  target: string;
}

/** The block that tells the next model call what the crash left unknown; undefined when nothing is. */
export function recoveryBlock(operations: RecoveredOperation[]): string | undefined {
  if (operations.length === 0) return undefined;
  const lines = operations.map(
    ({ recovery, tool, target }) =>
      `- call ${recovery.call_id} (${tool}: ${target}): ${recoveryWords(recovery)} ${recovery.evidence}`,
  );
  return [
    '<recovery>',
    'The agent was interrupted by a crash and has been restarted. About these calls, this is all that is known:',
    ...lines,
    'Check the real state before you rely on any of them. Do not assume that they were done, nor that they were not.',
    '</recovery>',
  ].join('\n');
}

function recoveryWords({ by, status }: EventOf<'tool_recovery'>): string {
  if (by === 'tool') return RECOVERY_WORDS[status];
  return `the user says that it ${status === 'completed' ? 'was done' : 'was not done'}.`;
}

const RECOVERY_WORDS: { [S in EventOf<'tool_recovery'>['status']]: string } = {
  uncertain: 'begun, no result.',
  running: 'still running.',
  completed: 'was completed.',
  not_run: 'was not run.',
  unknown: 'begun, its end is unknown.',
};
