/**
 * The part of a context that is older than what the session's workflow holds: read from the archive, from the
 * last summary on and no further back.
 */
import type { ArchiveStore } from '../archive/segments.ts';
import { isVisible } from '../domain/compaction.ts';
import type { SessionEvent } from '../domain/event.ts';
import type { SessionState } from '../domain/session.ts';
import type { Earlier } from './knownSession.ts';
import type { SessionView } from './sessionLog.ts';

/** What a context is built from. */
export interface ContextView {
  state: SessionState;
  /** What the summary leaves visible, in order. */
  events: SessionEvent[];
  /**
   * False: there is more than any model could take, so that these are only the oldest; the rest follows when they
   * have been summarised.
   */
  complete: boolean;
}

/** No model's window is as large: about four million tokens. */
const PART_MAX_BYTES = 16 * 1024 * 1024;

/** The archived events that are visible after `view`. Rejects with DamagedSegment, and where some are missing. */
export async function readEarlier(
  archive: ArchiveStore,
  { state }: SessionView,
  base: SessionState | null,
): Promise<Earlier & { complete: boolean }> {
  const { summary } = state;
  const from = summary?.through_seq ?? 0;
  const through = base?.seq ?? 0;
  const carried = await readCarried(
    archive,
    state,
    (summary?.carried ?? []).filter((seq) => seq <= through),
  );
  const rest = base === null ? { events: [], complete: true } : await readFrom(archive, base, from + 1);
  return { from, events: [...carried, ...rest.events], complete: rest.complete };
}

async function readFrom(
  archive: ArchiveStore,
  base: SessionState,
  from_seq: number,
): Promise<{ events: SessionEvent[]; complete: boolean }> {
  const events: SessionEvent[] = [];
  let bytes = 0;
  for await (const part of segmentsBetween(archive, base, from_seq)) {
    events.push(...part.events);
    bytes += part.bytes;
    if (bytes > PART_MAX_BYTES) break;
  }
  const last = events.at(-1);
  if (from_seq > base.seq || isLastOf(base, last)) return { events, complete: true };
  if (bytes > PART_MAX_BYTES) return { events, complete: false };
  throw new Error(lacking(base, last === undefined ? from_seq : last.seq + 1));
}

/** The last event tells the session's own archive from another of its id. */
function isLastOf(base: SessionState, event: SessionEvent | undefined): boolean {
  return event?.seq === base.seq && event.at === base.updated_at;
}

/** The archived events from `from_seq` to the end of `base`, without gaps, as far as they are there. */
async function* segmentsBetween(
  archive: ArchiveStore,
  base: SessionState,
  from_seq: number,
): AsyncGenerator<{ events: SessionEvent[]; bytes: number }> {
  if (from_seq > base.seq) return;
  let next = from_seq;
  for await (const manifest of archive.from(base.session_id, from_seq)) {
    if (manifest.from_seq > next) return;
    const events = (await archive.read(manifest)).filter(({ seq }) => seq >= next && seq <= base.seq);
    next += events.length;
    yield { events, bytes: manifest.bytes };
    if (next > base.seq) return;
  }
}

async function readCarried(
  archive: ArchiveStore,
  { session_id }: SessionState,
  seqs: number[],
): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for (const seq of seqs) {
    if (events.some((event) => event.seq === seq)) continue;
    for await (const manifest of archive.from(session_id, seq)) {
      for (const event of await archive.read(manifest)) if (seqs.includes(event.seq)) events.push(event);
      break;
    }
  }
  return events.toSorted((a, b) => a.seq - b.seq);
}

/** The newest archived event before `seq` that fits; one segment at a time. */
export async function eventBefore(
  archive: ArchiveStore,
  session_id: string,
  seq: number,
  matches: (event: SessionEvent) => boolean,
): Promise<SessionEvent | undefined> {
  for await (const manifest of archive.back(session_id, seq)) {
    const events = await archive.read(manifest);
    const found = events.findLast((event) => event.seq < seq && matches(event));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The visible events after `view`, of those before it and its own. */
export function contextOf(view: SessionView, earlier: Earlier): SessionEvent[] {
  const { summary } = view.state;
  const first = view.events[0]?.seq ?? Number.POSITIVE_INFINITY;
  return [...earlier.events.filter(({ seq }) => seq < first), ...view.events].filter((event) =>
    isVisible(summary, event),
  );
}

function lacking({ session_id, seq }: SessionState, from: number): string {
  return `Expected events ${Math.min(from, seq)} to ${seq} of session ${session_id} in the archive of this host, found others or none. Restore its folder from a backup, or work on the host that has it.`;
}
