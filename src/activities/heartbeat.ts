/** Tells Temporal that the activity is alive, and tells the activity when and why to stop. */
import { CancelledFailure, Context } from '@temporalio/activity';

/** Well below the heartbeat time-out of 10 s: cancellation arrives with heartbeats. */
const HEARTBEAT_INTERVAL_MS = 1_000;

/**
 * The reason of an abort that is no interrupt: the worker shuts down, or the server has given this attempt
 * up. Whatever runs detached goes on and is found by whoever comes next.
 */
export class WorkerShutdown extends Error {
  constructor(why: string) {
    super(`The worker let go of this call (${why}).`);
    this.name = 'WorkerShutdown';
  }
}

/** Whether a signal of `withHeartbeat` was aborted because this worker lets go of the call. */
export function isShutdown(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason instanceof WorkerShutdown;
}

/** Runs `work` with a heartbeat. Its signal aborts with WorkerShutdown, or, for an interrupt, with anything else. */
export async function withHeartbeat<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const controller = new AbortController();
  const timer = setInterval(() => context.heartbeat(), HEARTBEAT_INTERVAL_MS);
  const stop = (): void => controller.abort(reasonOf(context.cancellationSignal.reason));
  context.cancellationSignal.addEventListener('abort', stop, { once: true });
  if (context.cancellationSignal.aborted) stop();
  try {
    return await work(controller.signal);
  } finally {
    clearInterval(timer);
    context.cancellationSignal.removeEventListener('abort', stop);
  }
}

/** The SDK names the reason in the message of its CancelledFailure (ActivityCancellationReason in @temporalio/activity). */
function reasonOf(reason: unknown): Error {
  const why = reason instanceof CancelledFailure ? reason.message : 'CANCELLED';
  return why === 'CANCELLED'
    ? new DOMException('The run was interrupted.', 'AbortError')
    : new WorkerShutdown(why);
}
