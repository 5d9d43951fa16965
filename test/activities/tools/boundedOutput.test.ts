import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BlobStore } from '../../../src/activities/journal/blobs.ts';
import { boundOutput } from '../../../src/activities/tools/boundedOutput.ts';
import { OUTPUT_MAX_BYTES } from '../../../src/domain/limits.ts';

const MIB = 1024 * 1024;

let folder: string;
let blobs: BlobStore;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-bound-'));
  blobs = new BlobStore(join(folder, 'blobs'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test('an output that fits is shown whole and needs no blob', async () => {
  const bound = await boundOutput(Buffer.from('all of it\n'), { call_id: 'c1', blobs });
  expect(bound).toEqual({ output: 'all of it\n' });
});

test('invalid UTF-8 and NUL are shown by signs', async () => {
  const bytes = Buffer.from([0x61, 0xff, 0x00, 0xe2, 0x82, 0x62, 0xed, 0xa0, 0x80]);
  const { output } = await boundOutput(bytes, { call_id: 'c1', blobs });
  expect(output).toBe('a\ufffd␀\ufffdb\ufffd\ufffd\ufffd');
});

test('a long output shows its head and its tail, and says how to read the rest', async () => {
  const text = `first line\n${'x'.repeat(100_000)}\nlast line\n`;
  const { output, blob } = await boundOutput(Buffer.from(text), { call_id: 'call_7', blobs });
  expect(output.startsWith('first line\n')).toBe(true);
  expect(output.endsWith('\nlast line\n')).toBe(true);
  const [, offset] = /read_output \{"call_id":"call_7","offset":(\d+)\}/.exec(output) ?? [];
  expect(output.slice(0, Number(offset))).toBe(text.slice(0, Number(offset)));
  expect(blob?.bytes).toBe(text.length);
});

test('a code point at the cut is left out whole', async () => {
  const { output } = await boundOutput(Buffer.from('€🙂'.repeat(10_000)), { call_id: 'c1', blobs });
  expect(output).not.toContain('\ufffd');
  expect(Buffer.byteLength(output)).toBeGreaterThan(OUTPUT_MAX_BYTES - 300);
});

test('a spool of 200 MB is bounded without being loaded', async () => {
  const path = join(folder, 'spool');
  const file = await open(path, 'w');
  await file.write('begin\n');
  await file.truncate(200 * MIB);
  await file.write('\nend\n', 200 * MIB);
  await file.close();
  const before = process.memoryUsage().rss;
  const { output, blob } = await boundOutput({ path }, { call_id: 'c1', blobs });
  expect(process.memoryUsage().rss - before).toBeLessThan(120 * MIB);
  expect(output.startsWith('begin\n')).toBe(true);
  expect(output.endsWith('\nend\n')).toBe(true);
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(OUTPUT_MAX_BYTES);
  expect(blob?.bytes).toBe(200 * MIB + 5);
});

test('a file and the same bytes in memory are shown the same', async () => {
  const bytes = Buffer.from('line of text\n'.repeat(5000));
  const path = join(folder, 'same');
  await writeFile(path, bytes);
  const fromFile = await boundOutput({ path }, { call_id: 'c1', blobs });
  expect(fromFile).toEqual(await boundOutput(bytes, { call_id: 'c1', blobs }));
});

test('whatever the bytes are, the text is within its bound and valid', async () => {
  const anyByte = fc.uint8Array({ maxLength: 3000 });
  const nearlyText = fc
    .tuple(fc.string({ unit: 'binary', maxLength: 800 }), fc.uint8Array({ maxLength: 4 }))
    .map(([text, bytes]) => Buffer.concat([Buffer.from(text), bytes, Buffer.from(text)]));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(anyByte, nearlyText),
      fc.integer({ min: 250, max: 1500 }),
      async (bytes, max) => {
        const { output, blob } = await boundOutput(bytes, { call_id: 'c1', blobs, max_bytes: max });
        expect(Buffer.byteLength(output)).toBeLessThanOrEqual(max);
        expect(output.isWellFormed()).toBe(true);
        expect(output).not.toContain('\0');
        if (!blob) expect(output).toBe(Buffer.from(bytes).toString('utf8').replaceAll('\0', '␀'));
      },
    ),
    { numRuns: 300 },
  );
});
