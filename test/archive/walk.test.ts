import { mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import type * as Files from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fileArchive } from '../../src/archive/segments.ts';
import type { ArchiveStore, SegmentManifest } from '../../src/archive/segments.ts';
import { created, log, message, SESSION_ID, stateOf } from '../domain/support/events.ts';

/** Every file that was opened, to count what is read. */
const opened: string[] = [];
vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof Files>();
  const open: typeof original.open = async (path, ...rest) => {
    opened.push(String(path));
    return original.open(path, ...rest);
  };
  return { ...original, open };
});

let root: string;
let archive: ArchiveStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-'));
  archive = fileArchive(root);
});
afterEach(async () => rm(root, { recursive: true, force: true }));

const EVENTS = log(created(), ...Array.from({ length: 99 }, (_, index) => message(`m${index}`)));
const STATE = stateOf(EVENTS.slice(0, 1));

/** Segments 1, 2, … with so many events each. */
async function write(...sizes: number[]): Promise<void> {
  let from_seq = 1;
  for (const [index, size] of sizes.entries()) {
    const through_seq = from_seq + size - 1;
    await archive.write(
      {
        session_id: SESSION_ID,
        segment: index + 1,
        from_seq,
        through_seq,
        state: { ...STATE, seq: through_seq },
      },
      EVENTS.slice(from_seq - 1, through_seq),
    );
    from_seq = through_seq + 1;
  }
  opened.length = 0;
}

function file(segment: number, extension: 'json' | 'jsonl' = 'json'): string {
  return join(root, SESSION_ID, `${String(segment).padStart(6, '0')}.${extension}`);
}

/** The numbers of the segments on a way; the path of the damaged file ends it. */
async function numbersOf(way: AsyncGenerator<SegmentManifest>): Promise<(number | string)[]> {
  const numbers: (number | string)[] = [];
  try {
    for await (const { segment } of way) numbers.push(segment);
  } catch (error) {
    const damaged = [...Array(30).keys()].find((segment) => String(error).includes(file(segment)));
    numbers.push(damaged === undefined ? String(error) : `damaged ${damaged}`);
  }
  return numbers;
}

const from = async (seq: number): Promise<(number | string)[]> => numbersOf(archive.from(SESSION_ID, seq));
const back = async (seq: number): Promise<(number | string)[]> => numbersOf(archive.back(SESSION_ID, seq));

test('each event is found in its segment, forwards and backwards, in archives of any length', async () => {
  for (const sizes of [[1], [3, 1], [1, 4, 2], [2, 2, 2, 2], [5, 1, 1, 3, 1, 2, 1]]) {
    await rm(root, { recursive: true, force: true });
    await write(...sizes);
    const holders = sizes.flatMap((size, index) => Array<number>(size).fill(index + 1));
    const all = sizes.map((_, index) => index + 1);
    for (const [index, holder] of holders.entries()) {
      expect(await from(index + 1)).toEqual(all.slice(holder - 1));
      expect(await back(index + 2)).toEqual(all.slice(0, holder).toReversed());
    }
    expect(await from(0)).toEqual(all);
    expect(await from(holders.length + 1)).toEqual([]);
    expect(await back(1)).toEqual([]);
    expect(await back(1_000)).toEqual(all.toReversed());
  }
});

test('a segment without events is passed on the way and hides nothing', async () => {
  await write(3, 0, 2, 0);
  expect(await from(3)).toEqual([1, 2, 3, 4]);
  expect(await from(4)).toEqual([3, 4]);
  expect(await back(4)).toEqual([1]);
  expect(await back(6)).toEqual([3, 2, 1]);
  for await (const manifest of archive.from(SESSION_ID, 3))
    expect(await archive.read(manifest)).toHaveLength(manifest.through_seq - manifest.from_seq + 1);
});

test('of 200 segments fewer than twelve manifests are read to find one, and the next one only when it is asked for', async () => {
  await write(...Array<number>(200).fill(1));
  const way = archive.from(SESSION_ID, 193);
  expect((await way.next()).value).toMatchObject({ segment: 193 });
  expect(opened.length).toBeLessThan(12);
  opened.length = 0;
  expect((await way.next()).value).toMatchObject({ segment: 194 });
  expect(opened).toEqual([file(194)]);
  opened.length = 0;
  expect((await archive.back(SESSION_ID, 12).next()).value).toMatchObject({ segment: 11 });
  expect(opened.length).toBeLessThan(12);
});

test('damaged manifests hide no segment but themselves, whichever they are', async () => {
  const SEGMENTS = 6;
  await write(...Array<number>(SEGMENTS).fill(2));
  const whole = await Promise.all(
    Array.from({ length: SEGMENTS }, async (_, index) => readFile(file(index + 1))),
  );
  for (let damaged = 1; damaged < 2 ** SEGMENTS; damaged++) {
    for (const [index, bytes] of whole.entries()) await writeFile(file(index + 1), bytes);
    const isDamaged = (segment: number): boolean => (damaged & (1 << (segment - 1))) !== 0;
    const numbers = Array.from({ length: SEGMENTS }, (_, index) => index + 1);
    for (const segment of numbers.filter(isDamaged)) await truncate(file(segment), 30);
    for (const segment of numbers.filter((number) => !isDamaged(number))) {
      const after = numbers.slice(segment - 1);
      expect(await from(segment * 2)).toEqual(untilDamaged(after, isDamaged));
      const before = numbers.slice(0, segment).toReversed();
      expect(await back(segment * 2)).toEqual(untilDamaged(before, isDamaged));
    }
    // What only a damaged one can hold is not passed over: the way begins with its name.
    for (const segment of numbers.filter(isDamaged)) {
      expect(await from(segment * 2 - 1)).toEqual([expect.stringMatching(/^damaged/)]);
      expect(await back(segment * 2)).toEqual([expect.stringMatching(/^damaged/)]);
    }
  }
});

function untilDamaged(numbers: number[], isDamaged: (segment: number) => boolean): (number | string)[] {
  const end = numbers.findIndex((segment) => isDamaged(segment));
  return end === -1 ? numbers : [...numbers.slice(0, end), `damaged ${numbers[end]}`];
}

test('a segment whose number is missing is passed over, so that the reader sees which events are', async () => {
  await write(2, 2, 2, 2);
  await rm(file(2));
  expect(await from(1)).toEqual([1, 3, 4]);
  expect(await from(3)).toEqual([3, 4]);
  expect(await back(5)).toEqual([1]);
});

test.each([
  '0000002.json',
  '2.json',
  '000002.json.bak',
  '00000x.json',
  '-00001.json',
  '000002 (copy).json',
  'notes.json',
  'NaN.json',
  '1e3.json',
])('a foreign file %s in the folder is no segment', async (name) => {
  await write(2, 2);
  await writeFile(join(root, SESSION_ID, name), '{"hello": "world"}');
  expect(await from(1)).toEqual([1, 2]);
  expect(await back(9)).toEqual([2, 1]);
  expect((await archive.last(SESSION_ID))?.segment).toBe(2);
});

test('a huge foreign file in the place of a manifest or of events is refused without being read', async () => {
  await write(2, 2, 2);
  const way = archive.from(SESSION_ID, 1);
  const first = (await way.next()).value as SegmentManifest;
  const HUGE_BYTES = 8 * 1024 ** 3; // sparse: it takes no room, and more than a Buffer can hold
  for (const path of [file(1, 'jsonl'), file(2)]) {
    await writeFile(path, '');
    await truncate(path, HUGE_BYTES);
  }
  await expect(archive.read(first)).rejects.toThrow(`${HUGE_BYTES} bytes instead of ${first.bytes}`);
  expect(await from(1)).toEqual([1, 'damaged 2']);
  expect(await from(5)).toEqual([3]);
});

test('a damaged segment says which events are in it, and where to read on', async () => {
  await write(2, 3, 2);
  const [, second] = await Array.fromAsync(archive.from(SESSION_ID, 1));
  await rename(file(1, 'jsonl'), file(2, 'jsonl'));
  await expect(archive.read(second as SegmentManifest)).rejects.toMatchObject({
    code: 'archive.damaged',
    message: expect.stringContaining(`with events 3 to 5 in ${file(2, 'jsonl')}`),
    remedy: expect.stringContaining('holdfast events ID --from 6'),
  });
});
