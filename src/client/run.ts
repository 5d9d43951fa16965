/** One message from its acceptance to the end of its run. */
import type { SessionEvent } from '../domain/event.ts';
import { EXIT, HoldfastError } from './errors.ts';
import { follow, type FollowOptions } from './follow.ts';
import { RunTracker } from './runTracker.ts';
import type { Service } from './service.ts';

export interface FollowRunOptions extends Omit<FollowOptions, 'from' | 'onEvent' | 'onCaughtUp'> {
  /** The first seq where the message can be; an older one is found too, by reading all. */
  from: number;
  /** Told each event from `from` on, once and in order; `mine`: of the message or its run. */
  onEvent: (event: SessionEvent, run: RunTracker, mine: boolean) => void | Promise<void>;
  /** The run waits for a person; resolves with whether to go on waiting. */
  onWaiting: (run: RunTracker) => boolean | Promise<boolean>;
}

/**
 * Resolves when the run has ended (`outcome` is set), waits for a person whom nobody waits for
 * (`pending` is not empty), or the signal is aborted (neither).
 */
export async function followRun(
  service: Service,
  session_id: string,
  message_id: string,
  options: FollowRunOptions,
): Promise<RunTracker> {
  for (const from of [options.from, 1]) {
    const run = new RunTracker(message_id);
    await followOnce(service, session_id, run, { ...options, from, tellFrom: options.from });
    if (run.stage !== 'unseen' || options.signal.aborted) return run;
  }
  throw new HoldfastError(
    'message.not_found',
    `Expected message ${message_id} in session ${session_id}, found none.`,
    'The session was archived before it was taken in; send the message again.',
    EXIT.runFailed,
  );
}

async function followOnce(
  service: Service,
  session_id: string,
  run: RunTracker,
  options: FollowRunOptions & { tellFrom: number },
): Promise<void> {
  const done = new AbortController();
  await follow(service, session_id, {
    ...options,
    signal: AbortSignal.any([options.signal, done.signal]),
    onEvent: async (event) => {
      if (done.signal.aborted) return;
      const mine = run.take(event);
      if (mine || event.seq >= options.tellFrom) await options.onEvent(event, run, mine);
      if (run.outcome !== null) done.abort();
    },
    onCaughtUp: async () => {
      // All is told and the message is not there: it was sent before, and dropped as a repetition.
      if (run.stage === 'unseen') done.abort();
      if (run.pending.size > 0 && !(await options.onWaiting(run))) done.abort();
    },
  });
}
