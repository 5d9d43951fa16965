import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileArchive } from '../../src/archive/segments.ts';
import { SESSION_ID } from '../domain/support/events.ts';
import { LIMIT_BLOCKS, segmentOne, segmentTwo } from './fixtures/twoSegments.ts';

const WRITER = fileURLToPath(new URL('fixtures/writeSegments.ts', import.meta.url));

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-'));
});
afterEach(async () => rm(root, { recursive: true, force: true }));

/** A process that can't write files beyond a size: its write ends in the middle, as on a full disk. */
async function writeLimited(part: string, blocks: number | 'unlimited'): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    `ulimit -f ${blocks} && exec "$0" "$@"`,
    process.execPath,
    WRITER,
    root,
    part,
  ]);
  return stdout.trim();
}

test.each(['events', 'manifest'])(
  'a segment whose %s did not fit on the disk is not there, and the same write succeeds when there is room',
  async (part) => {
    const archive = fileArchive(root);
    const one = segmentOne();
    await archive.write(one.segment, one.events);
    expect(await writeLimited(part, LIMIT_BLOCKS)).toMatch(/^(EFBIG|ENOSPC)$/);
    const whole = ['000001.json', '000001.jsonl'];
    // The events may be there already; they count with their manifest alone. No temporary file is left.
    expect(await readdir(join(root, SESSION_ID))).toEqual(
      part === 'events' ? whole : [...whole, '000002.jsonl'],
    );
    expect((await archive.last(SESSION_ID))?.segment).toBe(1);
    expect((await Array.fromAsync(archive.from(SESSION_ID, 1))).map(({ segment }) => segment)).toEqual([1]);

    expect(await writeLimited(part, 'unlimited')).toBe('written');
    const two = segmentTwo(part);
    const last = await archive.last(SESSION_ID);
    expect(last).toMatchObject(two.segment);
    expect(last && (await archive.read(last))).toEqual(two.events);
  },
);
