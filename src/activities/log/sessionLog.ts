/**
 * A worker's memory of the sessions it works for. Activities get ids; this turns them into the state and the
 * events. Of each session it keeps what its workflow holds (the events since the last continue-as-new, asked for
 * by query) and the part of the archive that the context begins with, so that a session costs the same however
 * long it is; the most recently used sessions stay, and a step asks for what is new alone.
 */
import type { ArchiveStore } from '../../archive/segments.ts';
import type { SessionEvent } from '../../domain/event.ts';
import { PAGE_MAX_BYTES } from '../../domain/limits.ts';
import { upgradeState } from '../../domain/upgrade.ts';
import { contextOf, type ContextView, eventBefore, readEarlier } from './archivedContext.ts';
import {
  addPage,
  type AnsweredPage,
  baseSeq,
  begunAt,
  type Earlier,
  isRewritten,
  type Known,
  lastSeq,
  NOTHING,
  type SessionView,
  viewAt,
} from './knownSession.ts';

/** The `log` query of a session's workflow (workflows/contract.ts, LogPage). */
export type AskLog = (
  session_id: string,
  query: { after_seq: number; max_bytes: number },
) => Promise<AnsweredPage>;

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
    return viewAt(await this.#update(session_id, { through_seq, run }), through_seq);
  }

  /** What the context of a call after event `through_seq` is made of; as `at`. */
  async contextAt(session_id: string, through_seq: number, run?: string): Promise<ContextView> {
    const known = await this.#update(session_id, { through_seq, run });
    return this.#context(session_id, viewAt(known, through_seq), known);
  }

  /** What the context of a call at this moment is made of. */
  async contextNow(session_id: string): Promise<ContextView> {
    const known = await this.#update(session_id, {});
    return this.#context(session_id, viewAt(known, lastSeq(known)), known);
  }

  /** The newest event up to `view` that fits, wherever it is; undefined when no event of the session does. */
  async find(
    { state, events }: SessionView,
    matches: (event: SessionEvent) => boolean,
  ): Promise<SessionEvent | undefined> {
    const found = events.findLast((event) => matches(event));
    if (found !== undefined) return found;
    const first = events[0]?.seq ?? state.seq + 1;
    return eventBefore(this.#archive, state.session_id, first, matches);
  }

  async #context(session_id: string, view: SessionView, known: Known): Promise<ContextView> {
    const { state } = view;
    const { earlier } = known;
    if (earlier !== undefined && earlier.from <= (state.summary?.through_seq ?? 0))
      return { state, ...contextOf(view, earlier), complete: true };
    const { complete, ...read } = await readEarlier(this.#archive, view, known.base);
    if (!complete) return { state, events: read.events, lost: read.lost, complete };
    this.#remember(session_id, known, read);
    return { state, ...contextOf(view, read), complete };
  }

  /** What was read from the archive is read once for each Temporal run. */
  #remember(session_id: string, { base }: Known, earlier: Earlier): void {
    const before = this.#sessions.get(session_id);
    if (before === undefined) return;
    const next = before.then((known) => (known.base === base ? { ...known, earlier } : known));
    next.catch(() => {}); // whoever reads next is told
    this.#sessions.set(session_id, next);
  }

  /** One reader at a time for each session: parallel calls share what the first one asks for. */
  async #update(session_id: string, wanted: Wanted): Promise<Known> {
    const before = this.#sessions.get(session_id) ?? Promise.resolve(NOTHING);
    const next = before.catch(() => NOTHING).then(async (known) => this.#read(session_id, known, wanted));
    this.#sessions.delete(session_id);
    this.#sessions.set(session_id, next);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > SESSIONS_KEPT && oldest !== undefined) this.#sessions.delete(oldest);
    return next;
  }

  /** Without `through_seq`: to the newest event that there is. */
  async #read(session_id: string, known: Known, wanted: Wanted): Promise<Known> {
    const { through_seq = Number.POSITIVE_INFINITY, run = known.run } = wanted;
    if (run === known.run && lastSeq(known) >= through_seq) return known;
    let session = known === NOTHING ? await this.#archived(session_id) : known;
    // The last event that is known comes along with the first page, to see that it is still the same log. It
    // may fill that page alone.
    let after_seq = Math.max(baseSeq(session), Math.min(lastSeq(session), through_seq) - 1);
    for (;;) {
      const page = await this.#page(session_id, after_seq, wanted);
      const next = withPage(session_id, session, page);
      if (lastSeq(next) >= Math.min(through_seq, page.last_seq)) return { ...next, run };
      if (!hasProgress(session, next, after_seq)) throw new Error(gap(session_id, next, page));
      session = next;
      after_seq = lastSeq(session);
    }
  }

  /**
   * A session as its archive on this host ends: where the workflow's log begins there, which its answer tells, the
   * state needs not be asked for. What is damaged or of another host is not known, and no error here.
   */
  async #archived(session_id: string): Promise<Known> {
    const last = await this.#archive.last(session_id).catch(() => undefined);
    return last === undefined ? NOTHING : begunAt(upgradeState(last.state));
  }

  async #page(session_id: string, after_seq: number, { through_seq = 0 }: Wanted): Promise<AnsweredPage> {
    const page = await this.#ask(session_id, { after_seq, max_bytes: PAGE_MAX_BYTES });
    if (page.last_seq >= through_seq) return page;
    throw new Error(`Expected event ${through_seq} of session ${session_id}, found ${page.last_seq} events.`);
  }
}

interface Wanted {
  through_seq?: number;
  run?: string | undefined;
}

function withPage(session_id: string, known: Known, page: AnsweredPage): Known {
  const next = isRewritten(known, page) ? NOTHING : addPage(known, page);
  if (next === undefined) throw new Error(gap(session_id, known, page));
  return next;
}

/** A page that could have brought something new did, or showed that all has to be read again. */
function hasProgress(known: Known, next: Known, after_seq: number): boolean {
  const isBegunAgain = next === NOTHING && known !== NOTHING;
  return isBegunAgain || after_seq < lastSeq(known) || lastSeq(next) > after_seq;
}

function gap(session_id: string, known: Known, page: AnsweredPage): string {
  return `Expected the events of session ${session_id} without gaps, found ${lastSeq(known)} and then ${page.events[0]?.seq ?? 'none'} of ${page.last_seq}.`;
}
