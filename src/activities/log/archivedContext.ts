/**
 * The part of a context that is older than what the session's workflow holds: read from the archive, from the
 * last summary on and no further back. What is damaged there is left out and said to be lost; what is missing is
 * an error, since it may be on another host.
 */
import { type ArchiveStore, DamagedSegment } from '../../archive/segments.ts';
import { isVisible } from '../../domain/compaction.ts';
import type { LostEvents } from '../../domain/context.ts';
import type { SessionEvent } from '../../domain/event.ts';
import type { SessionState } from '../../domain/session.ts';
import type { Earlier, SessionView } from './knownSession.ts';

/** What a context is built from. */
export interface ContextView {
  state: SessionState;
  /** What the summary leaves visible, in order. */
  events: SessionEvent[];
  /** Of these, what can't be read any more. */
  lost: LostEvents[];
  /**
   * False: there is more than any model could take, so that these are only the oldest; the rest follows when they
   * have been summarised.
   */
  complete: boolean;
}

/** No model's window is as large: about four million tokens. */
const PART_MAX_BYTES = 16 * 1024 * 1024;

/** The archived events that are visible after `view`. Rejects where some are missing. */
export async function readEarlier(
  archive: ArchiveStore,
  { state }: SessionView,
  base: SessionState | null,
): Promise<Earlier & { complete: boolean }> {
  const { summary } = state;
  const from = summary?.through_seq ?? 0;
  if (base === null) return { from, events: [], lost: [], complete: true };
  const seqs = (summary?.carried ?? []).filter((seq) => seq <= base.seq);
  const carried = await readCarried(archive, state.session_id, seqs);
  const rest = new Reading(base, from + 1);
  await rest.read(archive);
  return {
    from,
    events: [...carried.events, ...rest.events],
    lost: [...carried.lost, ...rest.lost],
    complete: rest.complete,
  };
}

/** Reads on from one seq to the end of the archive, or as much as PART_MAX_BYTES allow. */
class Reading {
  readonly events: SessionEvent[] = [];
  readonly lost: LostEvents[] = [];
  readonly #base: SessionState;
  #next: number;
  #bytes = 0;
  #damaged: string | undefined;

  constructor(base: SessionState, from_seq: number) {
    this.#base = base;
    this.#next = from_seq;
  }

  get complete(): boolean {
    return this.#next > this.#base.seq;
  }

  async read(archive: ArchiveStore): Promise<void> {
    if (this.complete) return;
    const onDamaged = (error: DamagedSegment): void => void (this.#damaged = error.message);
    for await (const manifest of archive.from(this.#base.session_id, this.#next, onDamaged)) {
      if (manifest.from_seq > this.#next) this.#lose(manifest.from_seq - 1);
      const events = await archive.read(manifest, this.#next).catch((error: unknown) => {
        if (!(error instanceof DamagedSegment)) throw error;
        onDamaged(error);
        this.#lose(Math.min(manifest.through_seq, this.#base.seq));
        return [];
      });
      for (const event of events) this.#add(event);
      this.#bytes += manifest.bytes;
      if (this.complete || this.#bytes > PART_MAX_BYTES) return;
    }
    this.#lose(this.#base.seq);
  }

  #add(event: SessionEvent): void {
    if (event.seq !== this.#next || this.complete) return;
    // The last one tells the session's own archive from another of its id.
    if (event.seq === this.#base.seq && event.at !== this.#base.updated_at) throw this.#missing(event.seq);
    this.events.push(event);
    this.#next += 1;
  }

  #lose(through_seq: number): void {
    if (this.#damaged === undefined) throw this.#missing(through_seq);
    this.lost.push({ from_seq: this.#next, through_seq, why: this.#damaged });
    this.#damaged = undefined;
    this.#next = through_seq + 1;
  }

  #missing(through_seq: number): Error {
    const range = `events ${Math.min(this.#next, through_seq)} to ${through_seq}`;
    return new Error(
      `Expected ${range} of session ${this.#base.session_id} in the archive of this host, found others or none. Restore its folder from a backup, or work on the host that has it.`,
    );
  }
}

async function readCarried(
  archive: ArchiveStore,
  session_id: string,
  seqs: number[],
): Promise<{ events: SessionEvent[]; lost: LostEvents[] }> {
  const events: SessionEvent[] = [];
  const lost: LostEvents[] = [];
  for (const seq of seqs) {
    if (events.some((event) => event.seq === seq)) continue;
    try {
      for await (const manifest of archive.from(session_id, seq)) {
        for (const event of await archive.read(manifest)) if (seqs.includes(event.seq)) events.push(event);
        break;
      }
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error;
      lost.push({ from_seq: seq, through_seq: seq, why: error.message });
    }
  }
  return { events: events.toSorted((a, b) => a.seq - b.seq), lost };
}

/**
 * The newest archived event before `seq` that fits; one segment at a time. Rejects with DamagedSegment where none
 * is found and one that is damaged may have it.
 */
export async function eventBefore(
  archive: ArchiveStore,
  session_id: string,
  seq: number,
  matches: (event: SessionEvent) => boolean,
): Promise<SessionEvent | undefined> {
  const damaged: DamagedSegment[] = [];
  const onDamaged = (error: DamagedSegment): void => void damaged.push(error);
  for await (const manifest of archive.back(session_id, seq, onDamaged)) {
    const events = await archive.read(manifest).catch((error: unknown) => {
      if (!(error instanceof DamagedSegment)) throw error;
      onDamaged(error);
      return [];
    });
    const found = events.findLast((event) => event.seq < seq && matches(event));
    if (found !== undefined) return found;
  }
  const [newest] = damaged;
  if (newest !== undefined) throw newest;
  return undefined;
}

/** The visible events after `view`, of those before it and its own. */
export function contextOf(view: SessionView, earlier: Earlier): Pick<ContextView, 'events' | 'lost'> {
  const { summary } = view.state;
  const first = view.events[0]?.seq ?? Number.POSITIVE_INFINITY;
  const events = [...earlier.events.filter(({ seq }) => seq < first), ...view.events];
  return {
    events: events.filter((event) => isVisible(summary, event)),
    lost: earlier.lost.filter(({ through_seq }) => through_seq > (summary?.through_seq ?? 0)),
  };
}
