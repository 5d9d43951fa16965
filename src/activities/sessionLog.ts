/**
 * A worker's memory of the sessions it works for. Activities get ids; this turns them into the state and
 * the events, which it asks the workflow for by query (and the archive, for what is older), and keeps the
 * most recently used sessions so that a step asks for what is new alone.
 */
import type { ArchiveStore } from '../archive/segments.ts';
import type { SessionEvent } from '../domain/event.ts';
import { applyEvent } from '../domain/fold.ts';
import { PAGE_MAX_BYTES } from '../domain/limits.ts';
import type { SessionState } from '../domain/session.ts';

/** The `log` query of a session's workflow (workflows/contract.ts, LogPage). */
export type AskLog = (
  session_id: string,
  query: { after_seq: number; max_bytes: number },
) => Promise<AnsweredPage>;

export interface AnsweredPage {
  events: SessionEvent[];
  base: SessionState | null;
  last_seq: number;
  archived_through_seq: number;
}

/** A session as it was after one event. */
export interface SessionView {
  state: SessionState;
  /** From the first to `state.seq`. */
  events: SessionEvent[];
}

const SESSIONS_KEPT = 256;

export class SessionLog {
  readonly #ask: AskLog;
  readonly #archive: ArchiveStore;
  /** In order of use, the least recent first. */
  readonly #sessions = new Map<string, Promise<Known>>();

  constructor(ask: AskLog, archive: ArchiveStore) {
    this.#ask = ask;
    this.#archive = archive;
  }

  /** The session after event `through_seq`. Rejects when the workflow does not answer or does not have it. */
  async at(session_id: string, through_seq: number): Promise<SessionView> {
    const known = await this.#update(session_id, (session) =>
      this.#readThrough(session_id, session, through_seq),
    );
    return viewAt(known, through_seq);
  }

  /** The session as it is now. */
  async now(session_id: string): Promise<SessionView> {
    const known = await this.#update(session_id, (session) =>
      this.#readThrough(session_id, session, undefined),
    );
    return viewAt(known, known.events.length);
  }

  /** One reader at a time for each session: parallel calls share what the first one asks for. */
  async #update(session_id: string, read: (known: Known) => Promise<Known>): Promise<Known> {
    const before = this.#sessions.get(session_id) ?? Promise.resolve(NOTHING);
    const next = before.catch(() => NOTHING).then(read);
    this.#sessions.delete(session_id);
    this.#sessions.set(session_id, next);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > SESSIONS_KEPT && oldest !== undefined) this.#sessions.delete(oldest);
    return next;
  }

  /** Without `through_seq`: to the newest event that there is. */
  async #readThrough(session_id: string, known: Known, through_seq: number | undefined): Promise<Known> {
    let session = known;
    let last_seq = through_seq ?? Number.POSITIVE_INFINITY;
    while (session.events.length < last_seq) {
      // The last event that is known comes along, to see that it is still the same log: a reset rewrites it.
      const after_seq = Math.max(0, session.events.length - 1);
      const page = await this.#ask(session_id, { after_seq, max_bytes: PAGE_MAX_BYTES });
      const joined = join(session, page) ?? join(await this.#fromArchive(session_id, page), page);
      last_seq = through_seq ?? page.last_seq;
      if (joined === undefined || page.last_seq < last_seq) throw new Error(gap(session_id, session, page));
      if (joined.events.length <= session.events.length && joined.events.length < last_seq) {
        throw new Error(gap(session_id, joined, page));
      }
      session = joined;
    }
    return session;
  }

  async #fromArchive(session_id: string, page: AnsweredPage): Promise<Known> {
    const events: SessionEvent[] = [];
    for (const manifest of await this.#archive.manifests(session_id)) {
      if (manifest.from_seq !== events.length + 1 || manifest.through_seq > page.archived_through_seq) break;
      for (const event of await this.#archive.read(manifest)) events.push(event);
    }
    return fold(events);
  }
}

/** All events so far, and the state after them. */
interface Known {
  state: SessionState | null;
  events: SessionEvent[];
}

const NOTHING: Known = { state: null, events: [] };

/** What is known with a page added; undefined when they don't fit together. */
function join(known: Known, page: AnsweredPage): Known | undefined {
  const [first] = page.events;
  const from = first?.seq ?? page.archived_through_seq + 1;
  if (from > known.events.length + 1) return undefined;
  if (page.base !== null && !fits(known, page.base)) return undefined;
  if (first !== undefined && !isSame(known.events[first.seq - 1], first))
    return fold([...known.events.slice(0, first.seq - 1), ...page.events]);
  const fresh = page.events.filter((event) => event.seq > known.events.length);
  return {
    state: fresh.reduce(applyEvent, known.state as SessionState),
    events: [...known.events, ...fresh],
  };
}

function fits(known: Known, base: SessionState): boolean {
  return known.events[base.seq - 1]?.at === base.updated_at;
}

function isSame(known: SessionEvent | undefined, event: SessionEvent): boolean {
  return known === undefined || JSON.stringify(known) === JSON.stringify(event);
}

function fold(events: SessionEvent[]): Known {
  return { events, state: events.reduce<SessionState | null>(applyEvent, null) };
}

function viewAt(known: Known, through_seq: number): SessionView {
  const view = through_seq === known.events.length ? known : fold(known.events.slice(0, through_seq));
  if (view.state === null) throw new Error('Expected a session with at least one event, found none.');
  return { state: view.state, events: view.events };
}

function gap(session_id: string, known: Known, page: AnsweredPage): string {
  return `Expected the events of session ${session_id} without gaps, found ${known.events.length} and then ${page.events[0]?.seq ?? 'none'} of ${page.last_seq}; the archive of this host lacks what is between.`;
}
