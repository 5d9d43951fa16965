import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileArchive } from '../../src/archive/segments.ts';
import type { ArchiveStore, SegmentManifest } from '../../src/archive/segments.ts';
import type { SessionEvent } from '../../src/domain/event.ts';
import { created, log, message, SESSION_ID, stateOf } from '../domain/support/events.ts';

let root: string;
let archive: ArchiveStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-'));
  archive = fileArchive(root);
});
afterEach(async () => rm(root, { recursive: true, force: true }));

const EVENTS = log(created(), ...Array.from({ length: 29 }, (_, index) => message(`m${index}`)));

/** Writes a segment with the events from one seq through another. */
async function write(
  segment: number,
  from_seq: number,
  through_seq: number,
  session_id = SESSION_ID,
): Promise<void> {
  const state = stateOf(EVENTS.slice(0, through_seq));
  await archive.write({ session_id, segment, from_seq, through_seq, state }, eventsOf(from_seq, through_seq));
}

function eventsOf(from_seq: number, through_seq: number): SessionEvent[] {
  return EVENTS.slice(from_seq - 1, through_seq);
}

/** The path of a file of a segment. */
function file(segment: number, extension: 'json' | 'jsonl', session_id = SESSION_ID): string {
  return join(root, session_id, `${String(segment).padStart(6, '0')}.${extension}`);
}

/** All manifests, in order. */
async function manifests(from_seq = 1): Promise<SegmentManifest[]> {
  return Array.fromAsync(archive.from(SESSION_ID, from_seq));
}

async function manifest(segment: number): Promise<SegmentManifest> {
  const found = (await manifests()).find((each) => each.segment === segment);
  if (found === undefined) throw new Error(`Expected segment ${segment}, found none.`);
  return found;
}

test('what was written is read again: events, state, and what is known of each segment', async () => {
  await write(1, 1, 10);
  await write(2, 11, 30);
  const found = await manifests();
  expect(found).toMatchObject([
    { format: 1, session_id: SESSION_ID, segment: 1, from_seq: 1, through_seq: 10 },
    { format: 1, session_id: SESSION_ID, segment: 2, from_seq: 11, through_seq: 30 },
  ]);
  const events = await Promise.all(found.map(async (each) => archive.read(each)));
  expect(events.flat()).toEqual(EVENTS);
  const last = await archive.last(SESSION_ID);
  expect(last?.state).toEqual(stateOf(EVENTS));
  expect(last?.bytes).toBe((await stat(file(2, 'jsonl'))).size);
});

test('text survives whatever it holds', async () => {
  const text = 'line\nbreak\u2028 \0 \ud800 🙂 "quoted"';
  const events = log(created(), { type: 'user_message', message_id: 'm', text, delivery: 'queue' });
  await archive.write(
    { session_id: SESSION_ID, segment: 1, from_seq: 1, through_seq: 2, state: stateOf(events) },
    events,
  );
  expect(await archive.read(await manifest(1))).toEqual(events);
});

test('a segment is read from any of its events on', async () => {
  await write(2, 11, 20);
  for (const from_seq of [1, 11, 12, 20, 21, 99])
    expect(await archive.read(await manifest(2), from_seq)).toEqual(eventsOf(Math.max(11, from_seq), 20));
});

test('only the user can read the archive', async () => {
  await write(1, 1, 10);
  expect((await stat(join(root, SESSION_ID))).mode & 0o777).toBe(0o700);
  for (const extension of ['json', 'jsonl'] as const)
    expect((await stat(file(1, extension))).mode & 0o777).toBe(0o600);
});

test('a session without an archive has no segments', async () => {
  expect(await manifests()).toEqual([]);
  expect(await archive.last(SESSION_ID)).toBeUndefined();
  expect(await archive.has(SESSION_ID)).toBe(false);
});

test('a segment counts only with its manifest, so a write that was killed half-way is not there', async () => {
  await write(1, 1, 10);
  await writeFile(file(2, 'jsonl'), '{"seq":11');
  await writeFile(join(root, SESSION_ID, '.0a1b2c.tmp'), '{"format":1');
  expect((await manifests()).map(({ segment }) => segment)).toEqual([1]);
  expect((await archive.last(SESSION_ID))?.segment).toBe(1);
});

test('a write that fails leaves the others whole and no part of itself', async () => {
  await write(1, 1, 10);
  // A folder where the manifest shall be: it can't be replaced.
  await mkdir(join(file(2, 'json'), 'x'), { recursive: true });
  await expect(write(2, 11, 30)).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
  expect(await readdir(join(root, SESSION_ID))).toEqual([
    '000001.json',
    '000001.jsonl',
    '000002.json',
    '000002.jsonl',
  ]);
  await rm(file(2, 'json'), { recursive: true });
  expect(await archive.read(await manifest(1))).toEqual(eventsOf(1, 10));
});

test('segments are in the order of their numbers, also beyond six digits', async () => {
  await write(1_000_000, 21, 30);
  await write(999_999, 11, 20);
  await write(2, 1, 10);
  expect((await manifests()).map(({ segment }) => segment)).toEqual([2, 999_999, 1_000_000]);
  expect((await archive.last(SESSION_ID))?.segment).toBe(1_000_000);
  expect(await archive.read(await manifest(1_000_000))).toEqual(eventsOf(21, 30));
});

test('sessions do not see each other', async () => {
  await write(1, 1, 10);
  await write(1, 1, 30, 'another00000');
  expect((await manifests()).map(({ through_seq }) => through_seq)).toEqual([10]);
});

describe('writing a segment again', () => {
  test('gives the same files', async () => {
    await write(1, 1, 10);
    const before = await Promise.all([readFile(file(1, 'jsonl')), readFile(file(1, 'json'))]);
    await write(1, 1, 10);
    expect(await Promise.all([readFile(file(1, 'jsonl')), readFile(file(1, 'json'))])).toEqual(before);
  });

  test('with more events replaces it', async () => {
    await write(1, 1, 10);
    await write(1, 1, 12);
    expect(await archive.read(await manifest(1))).toEqual(eventsOf(1, 12));
  });

  test('by a worker that comes late, with fewer events, cuts nothing off', async () => {
    await write(1, 1, 12);
    await write(1, 1, 10);
    expect(await archive.read(await manifest(1))).toEqual(eventsOf(1, 12));
    expect((await manifest(1)).state).toEqual(stateOf(eventsOf(1, 12)));
  });

  test('with other events replaces it, also when they are fewer: the session was reset', async () => {
    await write(1, 1, 12);
    const reset = log(created(), message('another'));
    const about = { session_id: SESSION_ID, segment: 1, from_seq: 1, through_seq: 2, state: stateOf(reset) };
    await archive.write(about, reset);
    expect(await archive.read(await manifest(1))).toEqual(reset);
  });

  test('mends what was damaged', async () => {
    await write(1, 1, 10);
    await truncate(file(1, 'jsonl'), 40);
    await writeFile(file(1, 'json'), '');
    await write(1, 1, 10);
    expect(await archive.read(await manifest(1))).toEqual(eventsOf(1, 10));
  });

  test('at the same time from many sides leaves one whole segment and nothing else', async () => {
    await Promise.all(Array.from({ length: 20 }, async () => write(1, 1, 10)));
    expect(await archive.read(await manifest(1))).toEqual(eventsOf(1, 10));
    expect(await readdir(join(root, SESSION_ID))).toEqual(['000001.json', '000001.jsonl']);
  });

  test('while it is read never shows a part of it', async () => {
    await write(1, 1, 10);
    const known = await manifest(1);
    const reads = Array.from({ length: 50 }, async () => archive.read(known));
    const [found] = await Promise.all([
      Promise.all(reads),
      ...Array.from({ length: 10 }, async () => write(1, 1, 10)),
    ]);
    for (const events of found) expect(events).toEqual(eventsOf(1, 10));
  });
});

type Damage = [name: string, damage: (path: string) => Promise<void>];

const DAMAGES: Damage[] = [
  ['empty', async (path) => truncate(path, 0)],
  ['torn', async (path) => truncate(path, 40)],
  ['zero-filled', async (path) => writeFile(path, Buffer.alloc((await stat(path)).size))],
  ['foreign', async (path) => writeFile(path, '{"hello": "world"}\n')],
  ['binary', async (path) => writeFile(path, Buffer.from([0xff, 0xfe, 0x00, 0x80]))],
];

describe.each<Damage>([
  ...DAMAGES,
  ['longer', async (path) => appendFile(path, '{"seq":31}\n')],
  ['missing', async (path) => rm(path)],
])('an events file that is %s', (_, damage) => {
  test('is reported by its name, and the others are still read', async () => {
    await write(1, 1, 10);
    await write(2, 11, 20);
    await write(3, 21, 30);
    const [first, second, third] = await manifests();
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('Expected three.');
    await damage(file(2, 'jsonl'));
    await expect(archive.read(second)).rejects.toThrow(
      expect.objectContaining({ name: 'DamagedSegment', message: expect.stringContaining(file(2, 'jsonl')) }),
    );
    expect(await archive.read(first)).toEqual(eventsOf(1, 10));
    expect(await archive.read(third)).toEqual(eventsOf(21, 30));
    expect(await manifests()).toHaveLength(3);
  });
});

describe.each<Damage>([
  ...DAMAGES,
  ['null', async (path) => writeFile(path, 'null\n')],
  ['a list', async (path) => writeFile(path, '[]')],
  ['of a later format', async (path) => writeFile(path, '{"format":2}')],
  ["another segment's", async (path) => writeFile(path, await readFile(file(1, 'json')))],
  ["another session's", async (path) => writeFile(path, await readFile(file(2, 'json', 'another00000')))],
])('a manifest that is %s', (_, damage) => {
  test('is reported by its name, and what comes after it is still read', async () => {
    await write(1, 1, 10);
    await write(2, 11, 20);
    await write(3, 21, 30);
    await write(2, 11, 20, 'another00000');
    await damage(file(2, 'json'));
    await expect(manifests()).rejects.toThrow(
      expect.objectContaining({ name: 'DamagedSegment', message: expect.stringContaining(file(2, 'json')) }),
    );
    expect((await archive.last(SESSION_ID))?.segment).toBe(3);
    await damage(file(3, 'json'));
    expect(await archive.has(SESSION_ID)).toBe(true);
    await expect(archive.last(SESSION_ID)).rejects.toThrow(file(3, 'json'));
    await write(3, 21, 30);
    const later = await manifests(21);
    expect(await Promise.all(later.map(async (each) => archive.read(each)))).toEqual([eventsOf(21, 30)]);
  });
});

async function segmentsAfter(seq: number): Promise<number[]> {
  return (await manifests(seq + 1)).map(({ segment }) => segment);
}

test('events after a seq are asked for without the older manifests', async () => {
  await write(1, 1, 10);
  await write(2, 11, 20);
  await write(3, 21, 30);
  expect(await segmentsAfter(0)).toEqual([1, 2, 3]);
  expect(await segmentsAfter(10)).toEqual([2, 3]);
  expect(await segmentsAfter(15)).toEqual([2, 3]);
  expect(await segmentsAfter(30)).toEqual([]);
  await truncate(file(1, 'json'), 9);
  expect(await segmentsAfter(15)).toEqual([2, 3]);
});

test('a folder in the place of a manifest is an error with its path', async () => {
  await write(1, 1, 10);
  await mkdir(file(2, 'json'));
  await expect(manifests()).rejects.toThrow(`${file(2, 'json')}, found something that is no file`);
});
