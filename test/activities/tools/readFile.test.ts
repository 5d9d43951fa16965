import { open } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { editFile } from '../../../src/activities/tools/editFile.ts';
import { readFile } from '../../../src/activities/tools/readFile.ts';
import { OUTPUT_MAX_BYTES } from '../../../src/domain/limits.ts';
import { makeSandbox, type Sandbox, sha256 } from '../workspace/sandbox.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await makeSandbox();
});

function read(path: string, rest: { offset?: number; limit?: number } = {}) {
  return box.run(readFile, { path, ...rest });
}

test('a file is shown as it is, below one line of facts', async () => {
  await box.put('src/a.ts', 'one\ntwo\n');
  expect(await read('src/a.ts')).toEqual({
    status: 'success',
    output: `[src/a.ts: all 2 lines, 8 bytes, version ${sha256('one\ntwo\n')}.]\none\ntwo\n`,
    versions: [{ path: 'src/a.ts', version: sha256('one\ntwo\n') }],
  });
});

test('a part is shown by lines, and it is said how to go on', async () => {
  await box.put('a.txt', 'one\ntwo\nthree\nfour\n');
  const { output } = await read('a.txt', { offset: 2, limit: 2 });
  expect(output).toMatch(/^\[a\.txt: lines 2 to 3 of 4, .*Go on with offset 4\.\]\ntwo\nthree\n$/);
  expect((await read('a.txt', { offset: 4 })).output).not.toContain('Go on');
});

test('an offset past the end is refused with the number of lines', async () => {
  await box.put('a.txt', 'one\ntwo');
  const outcome = await read('a.txt', { offset: 3 });
  expect(outcome).toMatchObject({ status: 'failed', versions: [{ path: 'a.txt' }] });
  expect(outcome.output).toContain('at most 2');
});

test('a long file is read whole, page by page', async () => {
  const text = Array.from({ length: 3000 }, (_, index) => `line ${index} ${'ä'.repeat(index % 50)}\n`).join(
    '',
  );
  await box.put('a.txt', text);
  let all = '';
  for (let offset: number | undefined = 1; offset !== undefined; ) {
    const { output } = await read('a.txt', { offset });
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(OUTPUT_MAX_BYTES);
    const header = output.slice(0, output.indexOf('\n') + 1);
    all += output.slice(header.length);
    const next = /Go on with offset (\d+)/.exec(header)?.[1];
    offset = next === undefined ? undefined : Number(next);
  }
  expect(all).toBe(text);
});

test('a file of one line of 50 MB is bounded, and it is said so (case 14)', async () => {
  const file = await open(box.path('big.json'), 'w');
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  for (let index = 0; index < 50; index += 1) await file.write(chunk);
  await file.close();
  const { status, output } = await read('big.json');
  expect(status).toBe('success');
  expect(Buffer.byteLength(output)).toBeLessThan(4096);
  expect(output).toContain('all 1 line, 52428800 bytes');
  expect(output).toContain('1 long line cut after 2000 bytes');
  expect(output).toContain('[… 52426800 more bytes of this line are not shown]');
});

test('a part that was read counts as read for a later edit, as long as the bytes are the same (case 18)', async () => {
  await box.put('a.txt', 'one\ntwo\nthree\n');
  await read('a.txt', { limit: 1 });
  // What a resumed session knows is what it recorded: the map is all that is carried over.
  const edit = { path: 'a.txt', old_text: 'three', new_text: '3' };
  expect(await box.run(editFile, edit)).toMatchObject({ status: 'success' });
});

test('line ends, a BOM, bytes that are no UTF-8 and a missing last newline are remarked on', async () => {
  await box.put('crlf.txt', 'a\r\nb\r\n');
  expect((await read('crlf.txt')).output).toMatch(/Line ends are CRLF\.\]\na\r\nb\r\n$/);
  await box.put('mixed.txt', 'a\r\nb\nc');
  expect((await read('mixed.txt')).output).toMatch(
    /mixed: 1 of 2 are CRLF\. The last line has no line end\.\]/,
  );
  await box.put('bom.txt', '\ufeffa\n');
  expect((await read('bom.txt')).output).toMatch(/byte order mark, which is not shown\.\]\na\n$/);
  await box.put('latin1.txt', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
  expect((await read('latin1.txt')).output).toMatch(/U\+FFFD stands for .*\]\ncaf\ufffd\n$/);
});

test('a binary file is described and not shown', async () => {
  await box.put('a.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]));
  const { output } = await read('a.png');
  expect(output).toContain('a binary file, 7 bytes');
  expect(output).toContain('89 50 4e 47 00 01 02');
  await box.put('utf16.txt', Buffer.from('\ufeffhi', 'utf16le'));
  expect((await read('utf16.txt')).output).toContain('text in UTF-16');
});

test('an empty file is said to be empty', async () => {
  await box.put('empty', '');
  expect((await read('empty')).output).toMatch(/^\[empty: an empty file, 0 bytes, version \w{64}\.\]\n$/);
});

test('a missing file is a result with near names, and known to be missing', async () => {
  await box.put('src/reader.ts', 'x');
  const outcome = await read('src/raeder.ts');
  expect(outcome).toMatchObject({ status: 'failed', versions: [{ path: 'src/raeder.ts', version: null }] });
  expect(outcome.output).toContain('Near names: src/reader.ts');
  expect((await read('scr/reader.ts')).output).toContain('Near names: src');
});

test('an interrupt while reading is a result', async () => {
  await box.put('a.txt', 'x');
  const context = box.context({ signal: AbortSignal.abort() });
  expect(await box.run(readFile, { path: 'a.txt' }, context)).toMatchObject({ status: 'cancelled' });
});

test('reading can be repeated', async () => {
  expect(await box.reconcile(readFile, { path: 'a' }, box.context())).toEqual({
    status: 'not_run',
    evidence: 'read_file only reads; it can be repeated.',
  });
});
