import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SessionLog } from '../../src/activities/sessionLog.ts';
import type { AnsweredPage, AskLog } from '../../src/activities/sessionLog.ts';
import { isVisible } from '../../src/domain/compaction.ts';
import { fileArchive } from '../../src/archive/segments.ts';
import type { ArchiveStore } from '../../src/archive/segments.ts';
import type { EventBody, SessionEvent } from '../../src/domain/event.ts';
import { PAGE_MAX_BYTES } from '../../src/domain/limits.ts';
import { created, log, message, SESSION_ID, stateOf } from '../domain/support/events.ts';

let root: string;
let archive: ArchiveStore;
let workflow: FakeWorkflow;
let sessions: SessionLog;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-'));
  archive = fileArchive(root);
  workflow = new FakeWorkflow(messages(30));
  sessions = new SessionLog(workflow.ask, archive);
});
afterEach(async () => rm(root, { recursive: true, force: true }));

/** A session with this many events; `name` tells those of one history from those of another. */
function messages(count: number, name = 'm'): SessionEvent[] {
  return log(created(), ...Array.from({ length: count - 1 }, (_, index) => message(`${name}${index}`)));
}

/** A session's workflow as the query `log` shows it (SessionMachine.page of workflows/machine.ts). */
class FakeWorkflow {
  events: SessionEvent[];
  archived = 0;
  /** What was asked for: after which seq. */
  readonly asked: number[] = [];
  #segments = 0;
  /** Thrown once by the next query. */
  failure: Error | undefined;

  constructor(events: SessionEvent[]) {
    this.events = events;
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
    await archive.write({ session_id: SESSION_ID, segment, from_seq, through_seq, state }, events);
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

/** What the log answers is exactly the workflow's history so far. */
async function expectView(through_seq: number, run?: string): Promise<void> {
  const events = workflow.events.slice(0, through_seq);
  const state = stateOf(events);
  const visible = events.filter((event) => isVisible(state.summary, event));
  expect(await sessions.contextAt(SESSION_ID, through_seq, run)).toEqual({
    events: visible,
    state,
    complete: true,
  });
  const held = await sessions.at(SESSION_ID, through_seq, run);
  expect(held.state).toEqual(state);
  expect(held.events).toEqual(events.slice(events.length - held.events.length));
  expect(held.events.length).toBeGreaterThanOrEqual(through_seq - workflow.archived);
}

describe('a session', () => {
  test('is read once from cold, and then from memory', async () => {
    await expectView(30);
    await expectView(30);
    expect(workflow.asked).toEqual([0]);
  });

  test('as it was earlier is made from what is known', async () => {
    await expectView(30);
    await expectView(7);
    await expectView(30);
    expect(workflow.asked).toEqual([0]);
  });

  test('that went on is asked for what is new alone, with the last event that is known', async () => {
    await expectView(30);
    workflow.events = messages(40);
    await expectView(35);
    expect(workflow.asked).toEqual([0, 29]);
  });

  test('as it is now is always asked for', async () => {
    expect((await sessions.contextNow(SESSION_ID)).events).toHaveLength(30);
    workflow.events = messages(33);
    expect((await sessions.contextNow(SESSION_ID)).events).toHaveLength(33);
    expect((await sessions.contextNow(SESSION_ID)).state).toEqual(stateOf(workflow.events));
    expect(workflow.asked).toEqual([0, 29, 32]);
  });

  test('larger than a page is read page by page', async () => {
    const big = 'x'.repeat(PAGE_MAX_BYTES / 10);
    const bodies = Array.from({ length: 9 }, (_, index) => ({ ...message(`m${index}`), text: big }));
    workflow.events = log(created(), ...bodies);
    await expectView(10);
    expect(workflow.asked.length).toBeGreaterThan(2);
    expect(workflow.asked.length).toBeLessThan(8);
  });

  test('with events that each fill a page is read, too, at once and event by event', async () => {
    const huge = { ...message('m'), text: 'x'.repeat(PAGE_MAX_BYTES / 2) };
    workflow.events = log(created(), huge, huge, huge);
    await expectView(4);
    const again = new SessionLog(workflow.ask, archive);
    for (const seq of [1, 2, 3, 4])
      expect((await again.contextAt(SESSION_ID, seq)).events).toEqual(workflow.events.slice(0, seq));
  });
});

describe('calls at the same time', () => {
  test('share what the first of them asks for', async () => {
    await Promise.all(Array.from({ length: 20 }, async () => expectView(30)));
    expect(workflow.asked).toEqual([0]);
  });

  test('for different moments get each their own', async () => {
    await Promise.all([5, 30, 12, 1].map(async (seq) => expectView(seq)));
    expect(workflow.asked).toEqual([0]);
  });

  test('each try for themselves when the first one fails', async () => {
    workflow.failure = new Error('no answer');
    const [first, second] = await Promise.allSettled([
      sessions.at(SESSION_ID, 30),
      sessions.at(SESSION_ID, 30),
    ]);
    expect(first.status).toBe('rejected');
    expect(second).toMatchObject({ status: 'fulfilled', value: { events: workflow.events } });
  });
});

describe('errors', () => {
  test('are not kept: the next call asks again', async () => {
    workflow.failure = new Error('no answer');
    await expect(sessions.at(SESSION_ID, 30)).rejects.toThrow('no answer');
    await expectView(30);
  });

  test('of a session that was known before do no harm to what is read next', async () => {
    await expectView(30);
    workflow.events = messages(40);
    workflow.failure = new Error('no answer');
    await expect(sessions.at(SESSION_ID, 40)).rejects.toThrow('no answer');
    await expectView(40);
  });

  test('say so when the workflow does not have the event', async () => {
    await expect(sessions.at(SESSION_ID, 31)).rejects.toThrow(
      `Expected event 31 of session ${SESSION_ID}, found 30 events.`,
    );
  });
});

describe('a session that continued as new', () => {
  test('is read from the archive, then from the workflow', async () => {
    await workflow.rollOver(20);
    await expectView(30);
    expect(workflow.asked).toEqual([0]);
  });

  test('with nothing new since is read from the archive alone', async () => {
    await workflow.rollOver(30);
    await expectView(30);
    await expect(sessions.at(SESSION_ID, 11)).rejects.toThrow(
      "Expected event 11 in what the session's workflow holds, found events 31 to 30.",
    );
  });

  test('while it was known is not read again', async () => {
    await expectView(20);
    await workflow.rollOver(20);
    await rm(root, { recursive: true });
    await expectView(30);
  });

  test('and went on meanwhile is read from the archive', async () => {
    await expectView(10);
    await workflow.rollOver(20);
    await expectView(30);
  });

  test('without its archive is an error that says what is missing, not a shorter session', async () => {
    await workflow.rollOver(20);
    await rm(root, { recursive: true });
    await expect(sessions.contextAt(SESSION_ID, 30)).rejects.toThrow(
      `Expected events 1 to 20 of session ${SESSION_ID} in the archive of this host, found others or none.`,
    );
  });

  test('with another archive than its own is an error as well', async () => {
    await workflow.rollOver(20);
    workflow.events = messages(30).map((event) => ({ ...event, at: event.at.replace('2026', '2027') }));
    await expect(sessions.contextAt(SESSION_ID, 30)).rejects.toThrow(
      'in the archive of this host, found others or none',
    );
  });
});

/** Covers all up to `through_seq` but for `carried`. */
function summary(through_seq: number, carried: number[] = []): EventBody {
  const sizes = { tokens_before: 2, tokens_after: 1, usage: null };
  return {
    type: 'summary_created',
    operation_id: `${SESSION_ID}.c1`,
    through_seq,
    text: 's',
    user_messages: [],
    carried,
    ...sizes,
  };
}

/** Messages with summaries at their places: by the seq of the event. */
function summarisedMessages(count: number, summaries: Record<number, EventBody>): SessionEvent[] {
  const bodies = messages(count).map(({ seq: _, at: _at, ...body }) => body as EventBody);
  return log(...bodies.map((body, index) => summaries[index + 1] ?? body));
}

describe('a session with a summary', () => {
  let read: number[];
  beforeEach(() => {
    read = [];
    const counting: ArchiveStore = {
      ...archive,
      read: async (manifest) => {
        read.push(manifest.segment);
        return archive.read(manifest);
      },
    };
    sessions = new SessionLog(workflow.ask, counting);
  });

  test('that covers all of the archive is read without it', async () => {
    workflow.events = summarisedMessages(30, { 25: summary(22) });
    await workflow.rollOver(20);
    await expectView(30);
    expect(read).toEqual([]);
  });

  test('is read from the segment on that the summary ends in, and once', async () => {
    workflow.events = summarisedMessages(50, { 25: summary(22) });
    await workflow.rollOver(20); // segments 1 and 2
    await workflow.rollOver(40); // 3, to event 30, and 4
    await expectView(50);
    await expectView(45);
    expect(read).toEqual([3, 4]);
  });

  test('keeps the events that the summary carries, however old they are', async () => {
    workflow.events = summarisedMessages(50, { 45: summary(42, [3, 12, 41]) });
    await workflow.rollOver(40);
    await expectView(50);
    const { events } = await sessions.contextNow(SESSION_ID);
    expect(events.map(({ seq }) => seq)).toEqual([3, 12, 41, 43, 44, 45, 46, 47, 48, 49, 50]);
  });

  test('that is made while the session is known is followed without reading anything', async () => {
    workflow.events = summarisedMessages(30, {});
    await expectView(30);
    workflow.events = summarisedMessages(40, { 35: summary(32, [3]) });
    await expectView(40);
    await workflow.rollOver(40);
    workflow.events = summarisedMessages(60, { 35: summary(32, [3]), 55: summary(52, [3, 33]) });
    await expectView(60);
    await expectView(50);
    expect(read).toEqual([]);
  });

  test('is asked for at a moment before the summary as well', async () => {
    workflow.events = summarisedMessages(60, { 15: summary(12), 55: summary(52) });
    await workflow.rollOver(40);
    await expectView(60);
    expect(read).toEqual([]);
    await expectView(50);
    expect(read).toEqual([1, 2]);
    await expectView(60);
    await expectView(45);
    expect(read).toEqual([1, 2]);
  });

  test('keeps no more in memory than a context can need', async () => {
    workflow.events = messages(30);
    await expectView(30);
    for (let count = 100; count <= 1_000; count += 100) {
      workflow.events = summarisedMessages(
        count,
        Object.fromEntries(
          Array.from({ length: count / 100 }, (_, index) => [
            (index + 1) * 100 - 5,
            summary((index + 1) * 100 - 10),
          ]),
        ),
      );
      await workflow.rollOver(count - 20);
      await expectView(count);
    }
    expect((await sessions.contextNow(SESSION_ID)).events).toHaveLength(10);
    expect(read).toEqual([]);
  });
});

describe('an older event', () => {
  test('is found in what is known, in the archive, or not at all', async () => {
    await workflow.rollOver(20);
    const view = await sessions.at(SESSION_ID, 30);
    const find = async (message_id: string): Promise<SessionEvent | undefined> =>
      sessions.find(view, (event) => event.type === 'user_message' && event.message_id === message_id);
    expect((await find('m25'))?.seq).toBe(27);
    expect((await find('m2'))?.seq).toBe(4);
    expect(await find('other')).toBe(undefined);
  });

  test('is the newest that fits', async () => {
    await workflow.rollOver(20);
    const view = await sessions.at(SESSION_ID, 30);
    expect((await sessions.find(view, ({ seq }) => seq < 15))?.seq).toBe(14);
  });
});

test('more than any model could take is given from its oldest part on', async () => {
  const big = 'x'.repeat(1024 * 1024);
  const bodies = Array.from({ length: 40 }, (_, index) => ({ ...message(`m${index}`), text: big }));
  workflow.events = log(created(), ...bodies);
  for (const through_seq of [8, 16, 24, 32, 40]) await workflow.rollOver(through_seq);
  const { events, complete } = await sessions.contextAt(SESSION_ID, 41);
  expect(complete).toBe(false);
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});

/** From event `from` on another history, with this many events in all. */
function reset(from: number, count: number): void {
  workflow.events = [...messages(30).slice(0, from), ...messages(count, 'other').slice(from)];
}

describe('a session that was reset', () => {
  test('and grew longer is read again from where it differs', async () => {
    await expectView(30);
    reset(10, 40);
    await expectView(40);
  });

  test('and is shorter now is read again', async () => {
    await expectView(30);
    reset(10, 15);
    expect((await sessions.contextNow(SESSION_ID)).events).toEqual(workflow.events);
    await expectView(15);
  });

  test('and is asked for less than was known is read again, since another Temporal run asks', async () => {
    await expectView(30, 'first');
    reset(10, 20);
    await expectView(20, 'second');
    expect(workflow.asked).toEqual([0, 19, 0]);
  });

  test('and has as many events as were known is read again', async () => {
    await expectView(30, 'first');
    reset(10, 30);
    await expectView(30, 'second');
  });

  test('is compared once for each Temporal run', async () => {
    await expectView(30, 'first');
    await expectView(30, 'second');
    await expectView(12, 'second');
    await Promise.all([expectView(30, 'second'), expectView(30, 'second')]);
    expect(workflow.asked).toEqual([0, 29]);
  });
});

test('the sessions that were used least recently are forgotten', async () => {
  const asked: string[] = [];
  const many = new SessionLog(async (session_id, query) => {
    asked.push(session_id);
    return workflow.ask(SESSION_ID, query);
  }, archive);
  const ids = Array.from({ length: 256 }, (_, index) => `s${index}`);
  for (const id of ids) await many.contextAt(id, 30);
  await many.contextAt('s0', 30); // used again, so s1 is the oldest
  await many.contextAt('one more', 30);
  expect(asked).toHaveLength(257);
  await many.contextAt('s0', 30);
  expect(asked).toHaveLength(257);
  await many.contextAt('s1', 30);
  expect(asked.at(-1)).toBe('s1');
});
