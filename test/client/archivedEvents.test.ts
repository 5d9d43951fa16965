import { mkdtemp, rm, truncate } from 'node:fs/promises';
import type * as Files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fileArchive } from '../../src/archive/segments.ts';
import { readEvents } from '../../src/client/events.ts';
import type { Service } from '../../src/client/service.ts';
import type { SessionEvent } from '../../src/domain/event.ts';
import { created, log, message, SESSION_ID, stateOf } from '../domain/support/events.ts';

/** Every events file that was opened, to see how much is read. */
const opened: string[] = [];
vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof Files>();
  const open: typeof original.open = async (path, ...rest) => {
    if (String(path).endsWith('.jsonl')) opened.push(String(path));
    return original.open(path, ...rest);
  };
  return { ...original, open };
});

/** gRPC's NOT_FOUND: Temporal knows nothing of the session. */
const FORGOTTEN = Object.assign(new Error('workflow not found'), { code: 5 });

const SEGMENTS = 20;
const EVENTS = log(
  created(),
  ...Array.from({ length: SEGMENTS * 2 - 1 }, (_, index) => message(`m${index}`)),
);

let root: string;
let service: Service;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-'));
  const archive = fileArchive(root);
  for (let segment = 1; segment <= SEGMENTS; segment++) {
    const through_seq = segment * 2;
    const state = stateOf(EVENTS.slice(0, through_seq));
    const about = { session_id: SESSION_ID, segment, from_seq: through_seq - 1, through_seq, state };
    await archive.write(about, EVENTS.slice(through_seq - 2, through_seq));
  }
  opened.length = 0;
  service = { archive, call: async () => Promise.reject(FORGOTTEN) } as unknown as Service;
});
afterEach(async () => rm(root, { recursive: true, force: true }));

function file(segment: number, extension: 'json' | 'jsonl'): string {
  return join(root, SESSION_ID, `${String(segment).padStart(6, '0')}.${extension}`);
}

/** What is read until the end, or an error. */
async function read(from: number): Promise<{ events: SessionEvent[]; error?: unknown }> {
  const events: SessionEvent[] = [];
  try {
    for await (const event of readEvents(service, SESSION_ID, from)) events.push(event);
    return { events };
  } catch (error) {
    return { events, error };
  }
}

test('a session that Temporal has forgotten is read from any event on, each event once', async () => {
  for (let from = 0; from <= EVENTS.length + 2; from++)
    expect(await read(from)).toEqual({ events: EVENTS.slice(Math.max(0, from - 1)) });
});

test('reading from an event near the end opens the last segments alone, and a reader that stops opens no more', async () => {
  await read(EVENTS.length - 2);
  expect(opened).toEqual([file(SEGMENTS - 1, 'jsonl'), file(SEGMENTS, 'jsonl')]);
  opened.length = 0;
  for await (const event of readEvents(service, SESSION_ID, 1)) if (event.seq === 3) break;
  expect(opened).toEqual([file(1, 'jsonl'), file(2, 'jsonl')]);
});

test.each(['json', 'jsonl'] as const)(
  'when the newest segment has a damaged .%s file, all before it is read, and then it is named',
  async (extension) => {
    await truncate(file(SEGMENTS, extension), 20);
    const { events, error } = await read(5);
    expect(events).toEqual(EVENTS.slice(4, -2));
    expect(error).toMatchObject({
      code: 'archive.damaged',
      message: expect.stringContaining(file(SEGMENTS, extension)),
    });
  },
);

test('events that are missing in the middle are a gap that says from where to where, and behind it is read', async () => {
  await rm(file(7, 'json'));
  await rm(file(8, 'json'));
  const { events, error } = await read(1);
  expect(events).toEqual(EVENTS.slice(0, 12));
  expect(error).toMatchObject({
    code: 'archive.gap',
    message: expect.stringContaining('events 13 to 16'),
    remedy: expect.stringContaining('--from 17'),
  });
  expect(await read(17)).toEqual({ events: EVENTS.slice(16) });
});
