/** Waiting until a session is idle. */
import { facts } from './facts.ts';
import { follow, type FollowOptions } from './follow.ts';
import { outcomeOfSession, type RunOutcome } from './outcome.ts';
import type { Service } from './service.ts';

/**
 * Resolves when the session has no run and nothing queued, or waits for a person; with undefined when
 * aborted first. Rejects like `follow`.
 */
export async function waitIdle(
  service: Service,
  session_id: string,
  options: Pick<FollowOptions, 'signal' | 'onConnection' | 'patience_ms'> &
    Partial<Pick<FollowOptions, 'onEvent'>>,
): Promise<RunOutcome | undefined> {
  const known = await facts(service, session_id, { signal: options.signal });
  let outcome = outcomeOfSession(known);
  if (outcome !== undefined) return outcome;
  const done = new AbortController();
  const signal = AbortSignal.any([options.signal, done.signal]);
  await follow(service, session_id, {
    ...options,
    signal,
    from: known.last_seq + 1,
    onEvent: options.onEvent ?? (() => {}),
    onCaughtUp: async () => {
      outcome = outcomeOfSession(await facts(service, session_id, { signal }));
      if (outcome !== undefined) done.abort();
    },
  });
  return outcome;
}
