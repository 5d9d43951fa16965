/** A summary on demand: asked for, and waited for. */
import type { EventOf } from '../domain/event.ts';
import { facts } from './facts.ts';
import { follow, type FollowOptions } from './follow.ts';
import { requestCompaction } from './send.ts';
import type { Service } from './service.ts';

type CompactionEnd = EventOf<'summary_created'> | EventOf<'compaction_failed'>;

/**
 * Resolves with what came of it; with undefined when aborted first, and then the session makes it all the same.
 * In a run it is made after the step under way. Rejects like `follow`.
 */
export async function compactNow(
  service: Service,
  session_id: string,
  by: string,
  options: Pick<FollowOptions, 'signal' | 'onConnection'>,
): Promise<CompactionEnd | undefined> {
  const { last_seq } = await facts(service, session_id);
  await requestCompaction(service, session_id, by);
  let end: CompactionEnd | undefined;
  const done = new AbortController();
  await follow(service, session_id, {
    ...options,
    signal: AbortSignal.any([options.signal, done.signal]),
    from: last_seq + 1,
    onEvent: (event) => {
      if (event.type !== 'summary_created' && event.type !== 'compaction_failed') return;
      end ??= event;
      done.abort();
    },
  });
  return end;
}
