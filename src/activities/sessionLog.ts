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

  /**
   * The session after event `through_seq`, as the Temporal run `run` knows it: what was learned from an earlier
   * run is looked at again, since a reset has rewritten it from some event on. Rejects when the workflow does
   * not answer or does not have it.
   */
  async at(session_id: string, through_seq: number, run?: string): Promise<SessionView> {
    const known = await this.#update(session_id, async (session) =>
      this.#readThrough(session_id, session, { through_seq, run }),
    );
    return viewAt(known, through_seq);
  }

  /** The session as it is now. */
  async now(session_id: string): Promise<SessionView> {
    const known = await this.#update(session_id, async (session) =>
      this.#readThrough(session_id, session, {}),
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
  async #readThrough(session_id: string, known: Known, wanted: Wanted): Promise<Known> {
    const { through_seq = Number.POSITIVE_INFINITY, run = known.run } = wanted;
    if (run === known.run && known.events.length >= through_seq) return known;
    let session = known;
    // The last event that is known comes along with the first page, to see that it is still the same log. It
    // may fill that page alone.
    let after_seq = Math.max(0, Math.min(known.events.length, through_seq) - 1);
    for (;;) {
      const page = await this.#page(session_id, after_seq, wanted);
      const next = isRewritten(session, page) ? NOTHING : await this.#add(session_id, session, page);
      if (next.events.length >= Math.min(through_seq, page.last_seq)) return { ...next, run };
      if (after_seq === session.events.length && next.events.length <= after_seq)
        throw new Error(gap(session_id, next, page));
      session = next;
      after_seq = session.events.length;
    }
  }

  async #page(session_id: string, after_seq: number, { through_seq = 0 }: Wanted): Promise<AnsweredPage> {
    const page = await this.#ask(session_id, { after_seq, max_bytes: PAGE_MAX_BYTES });
    if (page.last_seq >= through_seq) return page;
    throw new Error(`Expected event ${through_seq} of session ${session_id}, found ${page.last_seq} events.`);
  }

  async #add(session_id: string, session: Known, page: AnsweredPage): Promise<Known> {
    const joined = join(session, page) ?? join(await this.#fromArchive(session_id, page), page);
    if (joined === undefined) throw new Error(gap(session_id, session, page));
    return joined;
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

interface Wanted {
  through_seq?: number;
  run?: string | undefined;
}

/** All events so far, and the state after them. */
interface Known {
  state: SessionState | null;
  events: SessionEvent[];
  /** The Temporal run that they were last compared with. */
  run: string | undefined;
}

const NOTHING: Known = { state: null, events: [], run: undefined };

/** Whether the workflow was reset since: its log is another from some event on, and only it knows which. */
function isRewritten({ events }: Known, page: AnsweredPage): boolean {
  if (page.last_seq < events.length) return true;
  return page.events.some((event) => !isSame(events[event.seq - 1], event));
}

/** What is known with a page added; undefined when they don't fit together. */
function join(known: Known, page: AnsweredPage): Known | undefined {
  const from = page.events[0]?.seq ?? page.archived_through_seq + 1;
  if (from > known.events.length + 1) return undefined;
  if (page.base !== null && !fits(known, page.base)) return undefined;
  const fresh = page.events.filter((event) => event.seq > known.events.length);
  if (fresh.length === 0) return known;
  return {
    state: fresh.reduce(applyEvent, known.state as SessionState),
    events: [...known.events, ...fresh],
    run: known.run,
  };
}

function fits(known: Known, base: SessionState): boolean {
  return known.events[base.seq - 1]?.at === base.updated_at;
}

function isSame(known: SessionEvent | undefined, event: SessionEvent): boolean {
  return known === undefined || JSON.stringify(known) === JSON.stringify(event);
}

function fold(events: SessionEvent[]): Known {
  return { events, state: events.reduce<SessionState | null>(applyEvent, null), run: undefined };
}

function viewAt(known: Known, through_seq: number): SessionView {
  const view = through_seq === known.events.length ? known : fold(known.events.slice(0, through_seq));
  if (view.state === null) throw new Error('Expected a session with at least one event, found none.');
  return { state: view.state, events: view.events };
}

function gap(session_id: string, known: Known, page: AnsweredPage): string {
  return `Expected the events of session ${session_id} without gaps, found ${known.events.length} and then ${page.events[0]?.seq ?? 'none'} of ${page.last_seq}; the archive of this host lacks what is between.`;
}
