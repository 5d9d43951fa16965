import { rm } from 'node:fs/promises';
import * as fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { boundOutput } from '../../../src/activities/tools/boundedOutput.ts';
import { readOutput } from '../../../src/activities/tools/readOutput.ts';
import { OUTPUT_MAX_BYTES } from '../../../src/domain/limits.ts';
import { makeSandbox, type Sandbox } from '../workspace/sandbox.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await makeSandbox();
});

async function store(bytes: Buffer): Promise<void> {
  box.outputs.set('c1', await boundOutput(bytes, { call_id: 'c1', blobs: box.blobs }));
}

/** Reads on from `offset` until it is said that this is the end. */
async function readAll(limit?: number): Promise<string> {
  let all = '';
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const { output, status } = await box.run(readOutput, { call_id: 'c1', offset, ...(limit && { limit }) });
    expect(status).toBe('success');
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(OUTPUT_MAX_BYTES);
    const header = output.slice(0, output.indexOf('\n'));
    all += output.slice(header.length + 1);
    const next = /go on with offset (\d+)/.exec(header)?.[1];
    offset = next === undefined ? undefined : Number(next);
  }
  return all;
}

test('a long output is read whole, page by page', async () => {
  const text = 'some € output 🙂\n'.repeat(4000);
  await store(Buffer.from(text));
  expect(await readAll()).toBe(text);
});

test('a page says where it is and what remains', async () => {
  await store(Buffer.from('x'.repeat(50_000)));
  const { output } = await box.run(readOutput, { call_id: 'c1', offset: 100, limit: 10 });
  expect(output).toBe('[bytes 100 to 110 of 50000. 49890 bytes remain: go on with offset 110.]\nxxxxxxxxxx');
});

test('an offset inside of a code point shows all of it', async () => {
  await store(Buffer.from('🙂'.repeat(10_000)));
  const { output } = await box.run(readOutput, { call_id: 'c1', offset: 6, limit: 4 });
  expect(output).toMatch(/^\[bytes 4 to 8 of 40000\..*\]\n🙂$/);
});

test('whatever the bytes are, the pages together are the whole text', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(bytes, fc.integer({ min: 1, max: 40 }), async (part, limit) => {
      const all = Buffer.from(part);
      box.outputs.set('c1', { output: 'cut', blob: await box.blobs.put(all) });
      expect(await readAll(limit)).toBe(all.toString('utf8').replaceAll('\0', '␀'));
    }),
    { numRuns: 40 },
  );
});

test('an output that was shown whole can be read as well, and an empty one is empty', async () => {
  box.outputs.set('c1', { output: 'short' });
  expect((await box.run(readOutput, { call_id: 'c1' })).output).toBe(
    '[bytes 0 to 5 of 5. This is the end.]\nshort',
  );
  box.outputs.set('c1', { output: '' });
  expect((await box.run(readOutput, { call_id: 'c1' })).output).toBe(
    '[bytes 0 to 0 of 0. This is the end.]\n',
  );
});

test('an unknown call, an offset past the end and a lost blob are results', async () => {
  expect((await box.run(readOutput, { call_id: 'nope' })).output).toContain('no finished call "nope"');
  await store(Buffer.from('x'.repeat(50_000)));
  expect((await box.run(readOutput, { call_id: 'c1', offset: 50_000 })).output).toContain('below 50000');
  await rm(box.blobs.root, { recursive: true });
  expect(await box.run(readOutput, { call_id: 'c1' })).toMatchObject({
    status: 'failed',
    output: expect.stringContaining('not on this host any more'),
  });
});
