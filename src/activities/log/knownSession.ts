/** What a worker knows of a session, as a value: how a page of its workflow's events is added, and what it was like. */
import type { LostEvents } from '../../domain/context.ts';
import type { SessionEvent } from '../../domain/event.ts';
import { applyEvent } from '../../domain/fold.ts';
import type { SessionState } from '../../domain/session.ts';
import { isVisible } from '../../domain/compaction.ts';

/** What the `log` query answers (workflows/contract.ts, LogPage). */
export interface AnsweredPage {
  events: SessionEvent[];
  base: SessionState | null;
  last_seq: number;
  archived_through_seq: number;
  archived_at: string | null;
}

/** A session as it was after one event. */
export interface SessionView {
  state: SessionState;
  /** What its workflow holds of them: all since the last continue-as-new, to `state.seq`. */
  events: SessionEvent[];
}

/** Archived events that the context of a later call may need: those that a summary through `from` leaves visible. */
export interface Earlier {
  from: number;
  events: SessionEvent[];
  /** What is damaged of them. */
  lost: LostEvents[];
}

export interface Known {
  /** The state at the end of the archive, where the Temporal run began; null: nothing is archived. */
  base: SessionState | null;
  /** After the last event; null: nothing is known. */
  state: SessionState | null;
  /** All after `base`. */
  events: SessionEvent[];
  /** Absent: nobody needed them yet. */
  earlier?: Earlier;
  /** The Temporal run that they were last compared with. */
  run: string | undefined;
}

const NO_EARLIER: Earlier = { from: 0, events: [], lost: [] };

export const NOTHING: Known = { base: null, state: null, events: [], run: undefined };

export function lastSeq({ state }: Known): number {
  return state?.seq ?? 0;
}

/** Whether the workflow was reset since: its log is another from some event on, and only it knows which. */
export function isRewritten(known: Known, page: AnsweredPage): boolean {
  if (known === NOTHING) return false;
  const { archived_through_seq: archived, archived_at } = page;
  if (page.last_seq < lastSeq(known) || archived < baseSeq(known)) return true;
  if (archived > 0 && archived <= lastSeq(known) && timeOf(known, archived) !== archived_at) return true;
  return page.events.some((event) => {
    const same = eventOf(known, event.seq);
    return same !== undefined && JSON.stringify(same) !== JSON.stringify(event);
  });
}

/** What is known with a page added; undefined when there is a gap between them. */
export function addPage(known: Known, page: AnsweredPage): Known | undefined {
  const { base, events, archived_through_seq } = page;
  // The session went on elsewhere for longer than a Temporal run: what was known of it is in the archive.
  if (archived_through_seq > lastSeq(known)) return base === null ? undefined : grown(begunAt(base), events);
  return grown(movedTo(known, archived_through_seq), events);
}

/** A session of which nothing but its archive is known. */
export function begunAt(base: SessionState): Known {
  return { base, state: base, events: [], run: undefined };
}

/** Continue-as-new: what is now in the archive is kept as far as a context can still need it. */
function movedTo(known: Known, archived: number): Known {
  if (archived <= baseSeq(known)) return known;
  const past = known.events.filter(({ seq }) => seq <= archived);
  const base = past.reduce(applyEvent, known.base as SessionState);
  const before = known.base === null ? NO_EARLIER : known.earlier;
  const rest = { ...known, base, events: known.events.slice(past.length) };
  if (before === undefined) return rest;
  const events = [...before.events, ...past].filter((event) => isVisible(base.summary, event));
  return { ...rest, earlier: { from: base.summary?.through_seq ?? 0, events, lost: before.lost } };
}

function grown(known: Known, events: readonly SessionEvent[]): Known | undefined {
  const fresh = events.filter(({ seq }) => seq > lastSeq(known));
  const [first] = fresh;
  if (first === undefined) return known;
  if (first.seq > lastSeq(known) + 1) return undefined;
  const state = fresh.reduce(applyEvent, known.state as SessionState);
  return { ...known, state, events: [...known.events, ...fresh] };
}

/** As it was after an event of the Temporal run, or at its beginning. Throws for an earlier one. */
export function viewAt(known: Known, through_seq: number): SessionView {
  const { base, events } = known;
  const past = through_seq === lastSeq(known) ? events : events.filter(({ seq }) => seq <= through_seq);
  const state =
    past === events
      ? known.state
      : past.reduce<SessionState | null>((before, event) => applyEvent(before, event), base);
  if (state?.seq !== through_seq)
    throw new Error(
      `Expected event ${through_seq} in what the session's workflow holds, found events ${baseSeq(known) + 1} to ${lastSeq(known)}.`,
    );
  return { state, events: past };
}

function eventOf({ base, events }: Known, seq: number): SessionEvent | undefined {
  return events[seq - (base?.seq ?? 0) - 1];
}

/** The time of an event from the end of the archive on. */
function timeOf(known: Known, seq: number): string | undefined {
  return seq === baseSeq(known) ? known.base?.updated_at : eventOf(known, seq)?.at;
}

/** The last event that is in the archive alone. */
export function baseSeq({ base }: Known): number {
  return base?.seq ?? 0;
}
