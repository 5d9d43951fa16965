import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { SessionLog } from '../../../src/activities/log/sessionLog.ts';
import type { ArchiveStore } from '../../../src/archive/segments.ts';
import type { EventBody, SessionEvent } from '../../../src/domain/event.ts';
import { created, log, message, SESSION_ID } from '../../domain/support/events.ts';
import { expectView as expectViewOf, logRig, messages } from './logRig.ts';

const rig = logRig();

const expectView = async (through_seq: number): Promise<void> => expectViewOf(rig, through_seq);

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
      ...rig.archive,
      read: async (manifest, from_seq) => {
        read.push(manifest.segment);
        return rig.archive.read(manifest, from_seq);
      },
    };
    rig.sessions = new SessionLog(rig.workflow.ask, counting);
  });

  test('that covers all of the archive is read without it', async () => {
    rig.workflow.events = summarisedMessages(30, { 25: summary(22) });
    await rig.workflow.rollOver(20);
    await expectView(30);
    expect(read).toEqual([]);
  });

  test('is read from the segment on that the summary ends in, and once', async () => {
    rig.workflow.events = summarisedMessages(50, { 25: summary(22) });
    await rig.workflow.rollOver(20); // segments 1 and 2
    await rig.workflow.rollOver(40); // 3, to event 30, and 4
    await expectView(50);
    await expectView(45);
    expect(read).toEqual([3, 4]);
  });

  test('keeps the events that the summary carries, however old they are', async () => {
    rig.workflow.events = summarisedMessages(50, { 45: summary(42, [3, 12, 41]) });
    await rig.workflow.rollOver(40);
    await expectView(50);
    const { events } = await rig.sessions.contextNow(SESSION_ID);
    expect(events.map(({ seq }) => seq)).toEqual([3, 12, 41, 43, 44, 45, 46, 47, 48, 49, 50]);
  });

  test('that is made while the session is known is followed without reading anything', async () => {
    rig.workflow.events = summarisedMessages(30, {});
    await expectView(30);
    rig.workflow.events = summarisedMessages(40, { 35: summary(32, [3]) });
    await expectView(40);
    await rig.workflow.rollOver(40);
    rig.workflow.events = summarisedMessages(60, { 35: summary(32, [3]), 55: summary(52, [3, 33]) });
    await expectView(60);
    await expectView(50);
    expect(read).toEqual([]);
  });

  test('is asked for at a moment before the summary as well', async () => {
    rig.workflow.events = summarisedMessages(60, { 15: summary(12), 55: summary(52) });
    await rig.workflow.rollOver(40);
    await expectView(60);
    expect(read).toEqual([]);
    await expectView(50);
    expect(read).toEqual([1, 2]);
    await expectView(60);
    await expectView(45);
    expect(read).toEqual([1, 2]);
  });

  test('keeps no more in memory than a context can need', async () => {
    rig.workflow.events = messages(30);
    await expectView(30);
    for (let count = 100; count <= 1_000; count += 100) {
      rig.workflow.events = summarisedMessages(
        count,
        Object.fromEntries(
          Array.from({ length: count / 100 }, (_, index) => [
            (index + 1) * 100 - 5,
            summary((index + 1) * 100 - 10),
          ]),
        ),
      );
      await rig.workflow.rollOver(count - 20);
      await expectView(count);
    }
    expect((await rig.sessions.contextNow(SESSION_ID)).events).toHaveLength(10);
    expect(read).toEqual([]);
  });
});

async function damage(name: string): Promise<void> {
  await writeFile(join(rig.root, SESSION_ID, name), 'torn');
}

describe('a damaged segment', () => {
  test('is left out of the context, which says what is lost and which file it is', async () => {
    await rig.workflow.rollOver(10);
    await rig.workflow.rollOver(20);
    await damage('000002.jsonl');
    const { events, lost, complete } = await rig.sessions.contextAt(SESSION_ID, 30);
    expect(events).toEqual([...rig.workflow.events.slice(0, 5), ...rig.workflow.events.slice(10)]);
    expect(lost).toMatchObject([{ from_seq: 6, through_seq: 10 }]);
    expect(lost[0]?.why).toContain('000002.jsonl');
    expect(complete).toBe(true);
  });

  test('is left out as well where its manifest is what is damaged, also the last one', async () => {
    await rig.workflow.rollOver(10);
    await rig.workflow.rollOver(20);
    await damage('000001.json');
    await damage('000004.json');
    const { events, lost } = await rig.sessions.contextAt(SESSION_ID, 30);
    expect(events).toEqual([...rig.workflow.events.slice(5, 15), ...rig.workflow.events.slice(20)]);
    expect(lost).toMatchObject([
      { from_seq: 1, through_seq: 5 },
      { from_seq: 16, through_seq: 20 },
    ]);
  });

  test('that a summary covers is not even looked at', async () => {
    rig.workflow.events = summarisedMessages(50, { 45: summary(42) });
    await rig.workflow.rollOver(40);
    await damage('000001.jsonl');
    await damage('000002.json');
    expect((await rig.sessions.contextAt(SESSION_ID, 50)).lost).toEqual([]);
  });

  test('is named where it may hold the event that is looked for', async () => {
    await rig.workflow.rollOver(20);
    await damage('000001.jsonl');
    const view = await rig.sessions.at(SESSION_ID, 30);
    expect((await rig.sessions.find(view, ({ seq }) => seq === 15))?.seq).toBe(15);
    await expect(rig.sessions.find(view, ({ seq }) => seq === 5)).rejects.toThrow('000001.jsonl');
  });
});

describe('an older event', () => {
  test('is found in what is known, in the archive, or not at all', async () => {
    await rig.workflow.rollOver(20);
    const view = await rig.sessions.at(SESSION_ID, 30);
    const find = async (message_id: string): Promise<SessionEvent | undefined> =>
      rig.sessions.find(view, (event) => event.type === 'user_message' && event.message_id === message_id);
    expect((await find('m25'))?.seq).toBe(27);
    expect((await find('m2'))?.seq).toBe(4);
    expect(await find('other')).toBe(undefined);
  });

  test('is the newest that fits', async () => {
    await rig.workflow.rollOver(20);
    const view = await rig.sessions.at(SESSION_ID, 30);
    expect((await rig.sessions.find(view, ({ seq }) => seq < 15))?.seq).toBe(14);
  });
});

test('more than any model could take is given from its oldest part on', async () => {
  const big = 'x'.repeat(1024 * 1024);
  const bodies = Array.from({ length: 40 }, (_, index) => ({ ...message(`m${index}`), text: big }));
  rig.workflow.events = log(created(), ...bodies);
  for (const through_seq of [8, 16, 24, 32, 40]) await rig.workflow.rollOver(through_seq);
  const { events, complete } = await rig.sessions.contextAt(SESSION_ID, 41);
  expect(complete).toBe(false);
  expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});
