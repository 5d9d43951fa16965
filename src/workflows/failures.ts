/** What a rejected activity means for the session. */
import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import type { RunError } from '../domain/failure.ts';

/** The activity was cancelled before it began, or it gave up because of the interrupt. */
export function isInterrupt(error: unknown): boolean {
  return isCancellation(error);
}

/** No worker ever took it, so it was not run. */
export function neverStarted(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
}

/** The dotted type of an activity's ApplicationFailure; undefined for time-outs and the like. */
export function typeOf(error: unknown): string | undefined {
  const cause = causeOf(error);
  return cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined;
}

/** One line about what happened, for evidence. */
export function describeFailure(error: unknown): string {
  const cause = causeOf(error);
  if (cause instanceof TimeoutFailure) return `The worker stopped answering (${cause.timeoutType}).`;
  return cause instanceof Error ? cause.message : String(cause);
}

/** The worker was lost at it, in its last attempt. */
export function isLoss(error: unknown): boolean {
  const cause = causeOf(error);
  if (cause instanceof TimeoutFailure) return cause.timeoutType === 'HEARTBEAT';
  return typeOf(error) === 'worker.lost';
}

/** How a run ends by it. */
export function runErrorOf(error: unknown): RunError {
  const cause = causeOf(error);
  const [details] = cause instanceof ApplicationFailure ? (cause.details ?? []) : [];
  const remedy = (details as { remedy?: unknown } | undefined)?.remedy;
  return {
    code: typeOf(error) ?? 'internal',
    message: describeFailure(error),
    remedy:
      typeof remedy === 'string'
        ? remedy
        : 'Look at the worker log and the Web UI, then send a message to go on.',
  };
}

function causeOf(error: unknown): unknown {
  return error instanceof ActivityFailure ? error.cause : error;
}
