import { rm } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { SessionLog } from '../../../src/activities/log/sessionLog.ts';
import { PAGE_MAX_BYTES } from '../../../src/domain/limits.ts';
import { created, log, message, SESSION_ID, stateOf } from '../../domain/support/events.ts';
import { expectView as expectViewOf, logRig, messages } from './logRig.ts';

const rig = logRig();

const expectView = async (through_seq: number, run?: string): Promise<void> =>
  expectViewOf(rig, through_seq, run);

describe('a session', () => {
  test('is read once from cold, and then from memory', async () => {
    await expectView(30);
    await expectView(30);
    expect(rig.workflow.asked).toEqual([0]);
  });

  test('as it was earlier is made from what is known', async () => {
    await expectView(30);
    await expectView(7);
    await expectView(30);
    expect(rig.workflow.asked).toEqual([0]);
  });

  test('that went on is asked for what is new alone, with the last event that is known', async () => {
    await expectView(30);
    rig.workflow.events = messages(40);
    await expectView(35);
    expect(rig.workflow.asked).toEqual([0, 29]);
  });

  test('as it is now is always asked for', async () => {
    expect((await rig.sessions.contextNow(SESSION_ID)).events).toHaveLength(30);
    rig.workflow.events = messages(33);
    expect((await rig.sessions.contextNow(SESSION_ID)).events).toHaveLength(33);
    expect((await rig.sessions.contextNow(SESSION_ID)).state).toEqual(stateOf(rig.workflow.events));
    expect(rig.workflow.asked).toEqual([0, 29, 32]);
  });

  test('larger than a page is read page by page', async () => {
    const big = 'x'.repeat(PAGE_MAX_BYTES / 10);
    const bodies = Array.from({ length: 9 }, (_, index) => ({ ...message(`m${index}`), text: big }));
    rig.workflow.events = log(created(), ...bodies);
    await expectView(10);
    expect(rig.workflow.asked.length).toBeGreaterThan(2);
    expect(rig.workflow.asked.length).toBeLessThan(8);
  });

  test('with events that each fill a page is read, too, at once and event by event', async () => {
    const huge = { ...message('m'), text: 'x'.repeat(PAGE_MAX_BYTES / 2) };
    rig.workflow.events = log(created(), huge, huge, huge);
    await expectView(4);
    const again = new SessionLog(rig.workflow.ask, rig.archive);
    for (const seq of [1, 2, 3, 4])
      expect((await again.contextAt(SESSION_ID, seq)).events).toEqual(rig.workflow.events.slice(0, seq));
  });
});

describe('calls at the same time', () => {
  test('share what the first of them asks for', async () => {
    await Promise.all(Array.from({ length: 20 }, async () => expectView(30)));
    expect(rig.workflow.asked).toEqual([0]);
  });

  test('for different moments get each their own', async () => {
    await Promise.all([5, 30, 12, 1].map(async (seq) => expectView(seq)));
    expect(rig.workflow.asked).toEqual([0]);
  });

  test('each try for themselves when the first one fails', async () => {
    rig.workflow.failure = new Error('no answer');
    const [first, second] = await Promise.allSettled([
      rig.sessions.at(SESSION_ID, 30),
      rig.sessions.at(SESSION_ID, 30),
    ]);
    expect(first.status).toBe('rejected');
    expect(second).toMatchObject({ status: 'fulfilled', value: { events: rig.workflow.events } });
  });
});

describe('errors', () => {
  test('are not kept: the next call asks again', async () => {
    rig.workflow.failure = new Error('no answer');
    await expect(rig.sessions.at(SESSION_ID, 30)).rejects.toThrow('no answer');
    await expectView(30);
  });

  test('of a session that was known before do no harm to what is read next', async () => {
    await expectView(30);
    rig.workflow.events = messages(40);
    rig.workflow.failure = new Error('no answer');
    await expect(rig.sessions.at(SESSION_ID, 40)).rejects.toThrow('no answer');
    await expectView(40);
  });

  test('say so when the workflow does not have the event', async () => {
    await expect(rig.sessions.at(SESSION_ID, 31)).rejects.toThrow(
      `Expected event 31 of session ${SESSION_ID}, found 30 events.`,
    );
  });
});

describe('a session that continued as new', () => {
  test('is read from the archive, then from the workflow', async () => {
    await rig.workflow.rollOver(20);
    await expectView(30);
    expect(rig.workflow.asked).toEqual([20]);
  });

  test('whose archive is on another host has its state from the workflow', async () => {
    await rig.workflow.rollOver(20);
    await rm(rig.root, { recursive: true });
    expect((await rig.sessions.at(SESSION_ID, 30)).state).toEqual(stateOf(rig.workflow.events));
    expect(rig.workflow.asked).toEqual([0]);
  });

  test('whose archive has a segment that its workflow does not know of yet is read by what the workflow says', async () => {
    await rig.workflow.rollOver(10);
    await rig.workflow.rollOver(20);
    rig.workflow.archived = 10; // the worker was killed between the segment and continue-as-new
    await expectView(30);
    expect(rig.workflow.asked).toEqual([20, 0]);
  });

  test('with nothing new since is read from the archive alone', async () => {
    await rig.workflow.rollOver(30);
    await expectView(30);
    await expect(rig.sessions.at(SESSION_ID, 11)).rejects.toThrow(
      "Expected event 11 in what the session's workflow holds, found events 31 to 30.",
    );
  });

  test('while it was known is not read again', async () => {
    await expectView(20);
    await rig.workflow.rollOver(20);
    await rm(rig.root, { recursive: true });
    await expectView(30);
  });

  test('and went on meanwhile is read from the archive', async () => {
    await expectView(10);
    await rig.workflow.rollOver(20);
    await expectView(30);
  });

  test('without its archive is an error that says what is missing, not a shorter session', async () => {
    await rig.workflow.rollOver(20);
    await rm(rig.root, { recursive: true });
    await expect(rig.sessions.contextAt(SESSION_ID, 30)).rejects.toThrow(
      `Expected events 1 to 20 of session ${SESSION_ID} in the archive of this host, found others or none.`,
    );
  });

  test('with another archive than its own is an error as well', async () => {
    await rig.workflow.rollOver(20);
    rig.workflow.events = messages(30).map((event) => ({ ...event, at: event.at.replace('2026', '2027') }));
    await expect(rig.sessions.contextAt(SESSION_ID, 30)).rejects.toThrow(
      'in the archive of this host, found others or none',
    );
  });
});

/** From event `from` on another history, with this many events in all. */
function reset(from: number, count: number): void {
  rig.workflow.events = [...messages(30).slice(0, from), ...messages(count, 'other').slice(from)];
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
    expect((await rig.sessions.contextNow(SESSION_ID)).events).toEqual(rig.workflow.events);
    await expectView(15);
  });

  test('and is asked for less than was known is read again, since another Temporal run asks', async () => {
    await expectView(30, 'first');
    reset(10, 20);
    await expectView(20, 'second');
    expect(rig.workflow.asked).toEqual([0, 19, 0]);
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
    expect(rig.workflow.asked).toEqual([0, 29]);
  });
});

test('the sessions that were used least recently are forgotten', async () => {
  const asked: string[] = [];
  const many = new SessionLog(async (session_id, query) => {
    asked.push(session_id);
    return rig.workflow.ask(SESSION_ID, query);
  }, rig.archive);
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
