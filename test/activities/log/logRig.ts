/** A session's workflow and archive, as the log of a worker sees them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import type { AnsweredPage } from '../../../src/activities/log/knownSession.ts';
import type { AskLog } from '../../../src/activities/log/sessionLog.ts';
import { SessionLog } from '../../../src/activities/log/sessionLog.ts';
import { type ArchiveStore, fileArchive } from '../../../src/archive/segments.ts';
import { isVisible } from '../../../src/domain/compaction.ts';
import type { SessionEvent } from '../../../src/domain/event.ts';
import { PAGE_MAX_BYTES } from '../../../src/domain/limits.ts';
import { created, log, message, SESSION_ID, stateOf } from '../../domain/support/events.ts';

/** A session with this many events; `name` tells those of one history from those of another. */
export function messages(count: number, name = 'm'): SessionEvent[] {
  return log(created(), ...Array.from({ length: count - 1 }, (_, index) => message(`${name}${index}`)));
}

/** A session's workflow as the query `log` shows it (SessionMachine.page of workflows/machine.ts). */
export class FakeWorkflow {
  events: SessionEvent[];
  archived = 0;
  /** What was asked for: after which seq. */
  readonly asked: number[] = [];
  #segments = 0;
  /** Thrown once by the next query. */
  failure: Error | undefined;

  readonly #archive: ArchiveStore;

  constructor(events: SessionEvent[], archive: ArchiveStore) {
    this.events = events;
    this.#archive = archive;
  }

  readonly ask: AskLog = async (session_id, { after_seq, max_bytes }): Promise<AnsweredPage> => {
    expect([session_id, max_bytes]).toEqual([SESSION_ID, PAGE_MAX_BYTES]);
    this.asked.push(after_seq);
    await Promise.resolve();
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    return {
      events: within(this.events.slice(Math.max(after_seq, this.archived)), max_bytes),
      base: after_seq < this.archived ? stateOf(this.events.slice(0, this.archived)) : null,
      last_seq: this.events.length,
      archived_through_seq: this.archived,
      archived_at: this.events[this.archived - 1]?.at ?? null,
    };
  };

  /** Continues as new after an event; what came before is in the archive, as two segments. */
  async rollOver(through_seq: number): Promise<void> {
    const half = Math.ceil((this.archived + through_seq) / 2);
    await this.#write(this.archived + 1, half);
    await this.#write(half + 1, through_seq);
    this.archived = through_seq;
  }

  async #write(from_seq: number, through_seq: number): Promise<void> {
    const segment = (this.#segments += 1);
    const state = stateOf(this.events.slice(0, through_seq));
    const events = this.events.slice(from_seq - 1, through_seq);
    await this.#archive.write({ session_id: SESSION_ID, segment, from_seq, through_seq, state }, events);
  }
}

function within(events: SessionEvent[], max_bytes: number): SessionEvent[] {
  let size = 0;
  const end = events.findIndex((event, index) => {
    size += JSON.stringify(event).length * 3;
    return index > 0 && size > max_bytes;
  });
  return end === -1 ? events : events.slice(0, end);
}

export interface LogRig {
  root: string;
  archive: ArchiveStore;
  workflow: FakeWorkflow;
  /** A worker that knows nothing yet. */
  sessions: SessionLog;
}

/** A session of 30 messages, an archive and a worker, new for each test of the file. */
export function logRig(): LogRig {
  const rig = {} as LogRig;
  beforeEach(async () => {
    const root = await mkdtemp(join(tmpdir(), 'hf-'));
    const archive = fileArchive(root);
    const workflow = new FakeWorkflow(messages(30), archive);
    Object.assign(rig, { root, archive, workflow, sessions: new SessionLog(workflow.ask, archive) });
  });
  afterEach(async () => rm(rig.root, { recursive: true, force: true }));
  return rig;
}

/** What the log answers is exactly the workflow's history so far. */
export async function expectView(
  { sessions, workflow }: Pick<LogRig, 'sessions' | 'workflow'>,
  through_seq: number,
  run?: string,
): Promise<void> {
  const events = workflow.events.slice(0, through_seq);
  const state = stateOf(events);
  const visible = events.filter((event) => isVisible(state.summary, event));
  expect(await sessions.contextAt(SESSION_ID, through_seq, run)).toEqual({
    events: visible,
    state,
    lost: [],
    complete: true,
  });
  const held = await sessions.at(SESSION_ID, through_seq, run);
  expect(held.state).toEqual(state);
  expect(held.events).toEqual(events.slice(events.length - held.events.length));
  expect(held.events.length).toBeGreaterThanOrEqual(through_seq - workflow.archived);
}
