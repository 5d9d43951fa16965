import { chmod, lstat, stat, symlink } from 'node:fs/promises';
import * as fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { editFile } from '../../../src/activities/tools/editFile.ts';
import { makeSandbox, type Sandbox, sha256 } from '../workspace/sandbox.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await makeSandbox();
});

function edit(path: string, old_text: string, new_text: string) {
  return box.run(editFile, { path, old_text, new_text });
}

test('an edit replaces the text and reports the new version', async () => {
  await box.putSeen('a.txt', 'one\ntwo\nthree\n');
  const outcome = await edit('a.txt', 'two', 'TWO');
  expect(await box.text('a.txt')).toBe('one\nTWO\nthree\n');
  expect(outcome).toMatchObject({
    status: 'success',
    versions: [{ path: 'a.txt', version: sha256('one\nTWO\nthree\n') }],
  });
  expect(outcome.output).toContain('line 2');
  expect(await box.leftovers()).toEqual([]);
});

test('a second edit needs no second read', async () => {
  await box.putSeen('a.txt', 'one two');
  await edit('a.txt', 'one', '1');
  expect(await edit('a.txt', 'two', '2')).toMatchObject({ status: 'success' });
  expect(await box.text('a.txt')).toBe('1 2');
});

test('smart quotes, non-breaking spaces and trailing blanks on other lines keep their bytes (case 16)', async () => {
  const around = '“quoted” it’s\u00a0here  \t\n';
  await box.putSeen('a.md', `${around}change me\n${around}`);
  await edit('a.md', 'change me', 'changed');
  expect(await box.text('a.md')).toBe(`${around}changed\n${around}`);
});

test('BOM, CRLF, mixed ends, Latin-1 bytes, a missing last newline and mode 0755 are kept (case 17)', async () => {
  const head = Buffer.concat([Buffer.from('\ufeffone\r\ntwo\n'), Buffer.from([0xe9, 0xff, 0x0d, 0x0a])]);
  await box.putSeen('run.sh', Buffer.concat([head, Buffer.from('old line\r\nlast, no end')]));
  await chmod(box.path('run.sh'), 0o755);
  await edit('run.sh', 'old line', 'new line');
  expect(await box.bytes('run.sh')).toEqual(Buffer.concat([head, Buffer.from('new line\r\nlast, no end')]));
  expect((await stat(box.path('run.sh'))).mode & 0o777).toBe(0o755);
});

test('old text with LF matches CRLF, and the new text gets CRLF', async () => {
  await box.putSeen('a.txt', 'a\r\nb\r\nc\r\n');
  await edit('a.txt', 'a\nb\n', 'a\nB\nB2\n');
  expect(await box.text('a.txt')).toBe('a\r\nB\r\nB2\r\nc\r\n');
});

test('new lines put into one line of a CRLF file end with CRLF', async () => {
  await box.putSeen('a.txt', 'a\r\nb\r\n');
  await edit('a.txt', 'b', 'b1\nb2');
  expect(await box.text('a.txt')).toBe('a\r\nb1\r\nb2\r\n');
});

test('in a file of mixed ends the lines that the edit repeats keep their own', async () => {
  await box.putSeen('a.txt', 'a\r\nb\nc\r\nd\n');
  await edit('a.txt', 'a\nb\nc\nd\n', 'a\nb\nC\nd\n');
  expect(await box.text('a.txt')).toBe('a\r\nb\nC\r\nd\n');
});

test('$& and other replacement patterns are plain text', async () => {
  await box.putSeen('a.txt', 'price');
  await edit('a.txt', 'price', "$& $1 $$ $` $'");
  expect(await box.text('a.txt')).toBe("$& $1 $$ $` $'");
});

test('text that occurs twice is refused, with the lines', async () => {
  await box.putSeen('a.txt', 'x = 1\ny\nx = 1\n');
  const outcome = await edit('a.txt', 'x = 1', 'x = 2');
  expect(outcome.status).toBe('failed');
  expect(outcome.output).toContain('occurs 2 times in a.txt, at lines 1, 3');
  expect(await box.text('a.txt')).toBe('x = 1\ny\nx = 1\n');
});

test('lines that only their ends tell apart are ambiguous', async () => {
  await box.putSeen('a.txt', 'x\ny\nx\r\ny\r\n');
  expect((await edit('a.txt', 'x\ny', 'z')).output).toContain('occurs 2 times');
});

const NEAR: [string, string, string, RegExp][] = [
  ['smart quotes', 'say “hi”\n', 'say "hi"', /typographic.* at line 1/s],
  ['a non-breaking space', 'a\nb\u00a0c\n', 'b c', /typographic.* at line 2.*\\u00a0/s],
  ['trailing blanks', 'a  \nb\n', 'a\nb', /blanks at line ends.* at line 1/s],
  ['indentation', 'x\n\tif (a) {\n', '    if (a) {', /indentation.* at line 2/s],
  ['LF where CRLF was given', 'a\nb\n', 'a\r\nb', /line ends.* at line 1/s],
  ['a later line', 'f() {\n  one\n}\n', 'f() {\n  two\n}', /differs from line 2.*two.*one/s],
  ['nothing like it', 'abc\n', 'xyz', /first line was not|Not even its first line/],
];
test.each(NEAR)('text that is not there is refused, with the nearest: %s', async (_, file, old, hint) => {
  await box.putSeen('a.txt', file);
  const outcome = await edit('a.txt', old, 'new');
  expect(outcome.status).toBe('failed');
  expect(outcome.output).toMatch(hint);
  expect(await box.text('a.txt')).toBe(file);
});

test('an empty old text and an edit that changes nothing are refused', async () => {
  await box.putSeen('a.txt', 'abc');
  expect((await edit('a.txt', '', 'x')).output).toContain('old_text is empty');
  expect((await edit('a.txt', 'abc', 'abc')).output).toContain('the same');
  expect((await edit('a.txt', 'abc', '\ud800')).output).toContain('surrogate');
});

test('a file that was never read is refused with READ_FIRST', async () => {
  await box.put('a.txt', 'abc');
  const outcome = await edit('a.txt', 'abc', 'x');
  expect(outcome).toMatchObject({ status: 'failed', output: expect.stringMatching(/^READ_FIRST: a\.txt/) });
  expect(outcome.versions).toBeUndefined();
  expect(await box.text('a.txt')).toBe('abc');
});

test('a file that somebody changed is refused with FILE_CHANGED and both versions', async () => {
  await box.putSeen('a.txt', 'abc');
  await box.put('a.txt', 'abc and more');
  const { status, output } = await edit('a.txt', 'abc', 'x');
  expect(status).toBe('failed');
  expect(output).toMatch(/^FILE_CHANGED: a\.txt/);
  expect(output).toContain(sha256('abc'));
  expect(output).toContain(sha256('abc and more'));
});

test('a file that is missing is refused with near names', async () => {
  await box.put('src/index.ts', 'x');
  const outcome = await edit('src/indx.ts', 'x', 'y');
  expect(outcome.status).toBe('failed');
  expect(outcome.output).toContain('src/index.ts');
});

test('a symbolic link inside of the workspace stays one, and its target is edited', async () => {
  await box.putSeen('real.txt', 'abc');
  await symlink('real.txt', box.path('link.txt'));
  expect(await edit('link.txt', 'abc', 'x')).toMatchObject({ versions: [{ path: 'real.txt' }] });
  expect((await lstat(box.path('link.txt'))).isSymbolicLink()).toBe(true);
  expect(await box.text('real.txt')).toBe('x');
});

test.runIf(process.getuid?.() !== 0)('a read-only file is refused', async () => {
  await box.putSeen('a.txt', 'abc');
  await chmod(box.path('a.txt'), 0o444);
  expect((await edit('a.txt', 'abc', 'x')).output).toContain('permission is denied');
});

test('an interrupt before the effect says that nothing was changed', async () => {
  await box.putSeen('a.txt', 'abc');
  const context = box.context({ signal: AbortSignal.abort() });
  const outcome = await box.run(editFile, { path: 'a.txt', old_text: 'abc', new_text: 'x' }, context);
  expect(outcome).toEqual({ status: 'cancelled', output: 'Interrupted before anything was changed.' });
  expect(await box.text('a.txt')).toBe('abc');
});

test('an unknown argument is named', () => {
  const parsed = editFile.schema.safeParse({ path: 'a', old_text: 'a', new_text: 'b', replace_all: true });
  expect(parsed.error?.issues[0]?.message).toContain('replace_all');
});

test('whatever bytes surround it, only the matched span changes', async () => {
  // Pieces without the marker's letters; any bytes, line ends of all kinds among them.
  const piece = fc
    .uint8Array({ maxLength: 40 })
    .map((bytes) => bytes.map((byte) => (byte > 0x5a && byte < 0x7b ? 0x0d : byte)));
  await fc.assert(
    fc.asyncProperty(
      piece,
      piece,
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      async (before, after, text) => {
        const new_text = text.replaceAll(/[\r\n]/g, '');
        await box.putSeen('f.bin', Buffer.concat([before, Buffer.from('marker'), after]));
        const { status } = await edit('f.bin', 'marker', new_text);
        expect(status).toBe('success');
        expect(await box.bytes('f.bin')).toEqual(Buffer.concat([before, Buffer.from(new_text), after]));
      },
    ),
    { numRuns: 40 },
  );
});

test('whatever the line ends are, an edit over several lines keeps those of the lines around it', async () => {
  const line = fc.tuple(fc.constantFrom('aa', 'bb', '', 'c d'), fc.constantFrom('\n', '\r\n'));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 5 }),
      fc.array(line, { maxLength: 5 }),
      async (head, tail) => {
        const before = head.map((parts) => parts.join('')).join('');
        const after = tail.map((parts) => parts.join('')).join('');
        await box.putSeen('f.txt', `${before}BEGIN\r\nmiddle\nEND\r\n${after}`);
        await edit('f.txt', 'BEGIN\nmiddle\nEND\n', 'BEGIN\ncentre\nEND\n');
        expect(await box.text('f.txt')).toBe(`${before}BEGIN\r\ncentre\nEND\r\n${after}`);
      },
    ),
    { numRuns: 40 },
  );
});
