import { chmod, stat } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { applyPatch } from '../../../src/activities/tools/applyPatch.ts';
import { makeSandbox, type Sandbox, sha256 } from '../workspace/sandbox.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await makeSandbox();
});

function patch(...lines: string[]) {
  return box.run(applyPatch, { patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });
}

function update(path: string, ...lines: string[]) {
  return patch(`*** Update File: ${path}`, ...lines);
}

test('one patch updates, adds, deletes and moves files', async () => {
  await box.putSeen('a.ts', 'one\ntwo\nthree\n');
  await box.putSeen('old.ts', 'bye\n');
  await box.putSeen('b.sh', '#!/bin/sh\necho b\n');
  await chmod(box.path('b.sh'), 0o755);
  const outcome = await patch(
    '*** Update File: a.ts',
    '@@',
    ' one',
    '-two',
    '+TWO',
    ' three',
    '*** Add File: new/c.ts',
    '+const c = 1;',
    '+',
    '*** Delete File: old.ts',
    '*** Update File: b.sh',
    '*** Move to: bin/b.sh',
    '@@',
    '-echo b',
    '+echo B',
  );
  expect(outcome.status).toBe('success');
  expect(await box.text('a.ts')).toBe('one\nTWO\nthree\n');
  expect(await box.text('new/c.ts')).toBe('const c = 1;\n\n');
  expect(box.exists('old.ts')).toBe(false);
  expect(box.exists('b.sh')).toBe(false);
  expect(await box.text('bin/b.sh')).toBe('#!/bin/sh\necho B\n');
  expect((await stat(box.path('bin/b.sh'))).mode & 0o777).toBe(0o755);
  expect(outcome.versions).toEqual([
    { path: 'a.ts', version: sha256('one\nTWO\nthree\n') },
    { path: 'new/c.ts', version: sha256('const c = 1;\n\n') },
    { path: 'old.ts', version: null },
    { path: 'b.sh', version: null },
    { path: 'bin/b.sh', version: sha256('#!/bin/sh\necho B\n') },
  ]);
  expect(await box.leftovers()).toEqual([]);
});

test('a patch whose second file fails changes nothing of the first (case 28)', async () => {
  await box.putSeen('a.ts', 'one\n');
  await box.putSeen('b.ts', 'two\n');
  const outcome = await patch(
    '*** Update File: a.ts',
    '@@',
    '-one',
    '+ONE',
    '*** Update File: b.ts',
    '@@',
    '-not there',
    '+x',
  );
  expect(outcome.status).toBe('failed');
  expect(outcome.output).toContain('was not found in b.ts');
  expect(outcome.output).toContain('Nothing of the patch was applied.');
  expect(await box.text('a.ts')).toBe('one\n');
  expect(await box.leftovers()).toEqual([]);
});

test('context that occurs twice is refused, and the lines are named (case 29)', async () => {
  await box.putSeen('a.ts', 'f() {\n  return 1;\n}\ng() {\n  return 1;\n}\n');
  const outcome = await update('a.ts', '@@', '-  return 1;', '+  return 2;');
  expect(outcome.status).toBe('failed');
  expect(outcome.output).toMatch(/^Ambiguous patch: .*occurs 2 times in a\.ts, at lines 2, 5/);
});

test('an anchor says which of two places is meant', async () => {
  await box.putSeen('a.ts', 'f() {\n  return 1;\n}\ng() {\n  return 1;\n}\n');
  expect(await update('a.ts', '@@ g() {', '-  return 1;', '+  return 2;')).toMatchObject({
    status: 'success',
  });
  expect(await update('a.ts', '@@ f() {', '-  return 1;', '+  return 3;')).toMatchObject({
    status: 'success',
  });
  expect(await box.text('a.ts')).toBe('f() {\n  return 3;\n}\ng() {\n  return 2;\n}\n');
});

test('anchors narrow down one after the other, without their indentation or their end', async () => {
  const file = 'class A:\n  def m(self):\n    x\n\nclass B:\n  def m(self):\n    pass\n    x\n';
  await box.putSeen('a.py', file);
  expect(await update('a.py', '@@ class B', '@@ def m(self):', '-    x', '+    y')).toMatchObject({
    status: 'success',
  });
  expect(await box.text('a.py')).toBe(`${file.slice(0, -2)}y\n`);
});

test('an anchor that is not there, and ranges of unified diffs, are told apart', async () => {
  await box.putSeen('a.ts', 'one\n');
  expect((await update('a.ts', '@@ nowhere', '-one', '+1')).output).toContain('anchor "@@ nowhere"');
  expect(await update('a.ts', '@@ -1,1 +1,1 @@', '-one', '+1')).toMatchObject({ status: 'success' });
});

test('CRLF, mixed ends, BOM, Latin-1 bytes and a missing last newline are kept (case 17)', async () => {
  const bytes = Buffer.concat([
    Buffer.from('\ufeffa\r\nb\n'),
    Buffer.from([0xe9, 0x0d, 0x0a]),
    Buffer.from('c\r\nlast'),
  ]);
  await box.putSeen('a.txt', bytes);
  const outcome = await update('a.txt', '@@', '-b', '+B', '@@', '-c', '+C', '+D', ' last', '+more');
  expect(outcome.status).toBe('success');
  expect(await box.bytes('a.txt')).toEqual(
    Buffer.concat([
      Buffer.from('\ufeffa\r\nB\n'),
      Buffer.from([0xe9, 0x0d, 0x0a]),
      Buffer.from('C\r\nD\r\nlast\r\nmore'),
    ]),
  );
});

test('a patch written with CRLF itself means the same', async () => {
  await box.putSeen('a.txt', 'a\nb\n');
  const text = [
    '*** Begin Patch',
    '*** Update File: a.txt',
    '@@',
    ' a',
    '-b',
    '+B',
    '*** End Patch',
    '',
  ].join('\r\n');
  expect(await box.run(applyPatch, { patch: text })).toMatchObject({ status: 'success' });
  expect(await box.text('a.txt')).toBe('a\nB\n');
});

test('typographic signs must match, and the refusal shows them (case 16)', async () => {
  await box.putSeen('a.md', 'it’s “so”\n');
  const { output } = await update('a.md', '@@', '-it\'s "so"', '+x');
  expect(output).toContain('typographic signs');
  expect(await box.text('a.md')).toBe('it’s “so”\n');
});

test('lines are added at the end, after an anchor, or not at all where it is not said where', async () => {
  await box.putSeen('a.txt', 'one\ntwo\n');
  expect(await update('a.txt', '@@', '+end', '*** End of File')).toMatchObject({ status: 'success' });
  expect(await update('a.txt', '@@ one', '+after one')).toMatchObject({ status: 'success' });
  expect(await box.text('a.txt')).toBe('one\nafter one\ntwo\nend\n');
  expect((await update('a.txt', '@@', '+where?')).output).toContain('only adds lines');
});

test('End of File picks the last of equal places', async () => {
  await box.putSeen('a.txt', 'x\ny\nx\n');
  expect(await update('a.txt', '@@', '-x', '+z', '*** End of File')).toMatchObject({ status: 'success' });
  expect(await box.text('a.txt')).toBe('x\ny\nz\n');
});

test('hunks may share context, but not change the same line', async () => {
  await box.putSeen('a.txt', 'a\nb\nc\n');
  expect(await update('a.txt', '@@', '-a', '+A', ' b', '@@', ' b', '-c', '+C')).toMatchObject({
    status: 'success',
  });
  expect(await box.text('a.txt')).toBe('A\nb\nC\n');
  expect((await update('a.txt', '@@', '-b', '+1', '@@', '-b', '+2')).output).toContain('overlaps');
});

test('each file is checked for READ_FIRST and FILE_CHANGED, and all problems are named', async () => {
  await box.put('unread.txt', 'a\n');
  await box.putSeen('changed.txt', 'a\n');
  await box.put('changed.txt', 'b\n');
  const { status, output } = await patch(
    '*** Update File: unread.txt',
    '@@',
    '-a',
    '+b',
    '*** Delete File: changed.txt',
  );
  expect(status).toBe('failed');
  expect(output).toMatch(/^READ_FIRST: unread\.txt/);
  expect(output).toMatch(/^FILE_CHANGED: changed\.txt/m);
});

const SYNTAX: [string, string[], RegExp][] = [
  ['no begin', ['*** Update File: a'], /line 1: expected \*\*\* Begin Patch/],
  [
    'no end',
    ['*** Begin Patch', '*** Add File: a', '+x'],
    /expected \*\*\* End Patch, found the patch's end/,
  ],
  ['no operation', ['*** Begin Patch', '*** End Patch'], /expected a file operation/],
  [
    'an unknown operation',
    ['*** Begin Patch', '*** Rename File: a', '*** End Patch'],
    /line 2: expected .*Rename File/,
  ],
  [
    'a new file without +',
    ['*** Begin Patch', '*** Add File: a', 'x', '*** End Patch'],
    /line 3: expected \+/,
  ],
  [
    'a hunk line without a sign',
    ['*** Begin Patch', '*** Update File: a', '@@', 'x', '*** End Patch'],
    /line 4/,
  ],
  [
    'a hunk without a change',
    ['*** Begin Patch', '*** Update File: a', '@@', ' x', '*** End Patch'],
    /line 3: expected lines to remove/,
  ],
  ['an update without hunks', ['*** Begin Patch', '*** Update File: a', '*** End Patch'], /expected a hunk/],
  [
    'text after the end',
    ['*** Begin Patch', '*** Add File: a', '+x', '*** End Patch', 'more'],
    /line 5: expected nothing/,
  ],
];
test.each(SYNTAX)('a patch with %s is refused with the line', async (_, lines, reason) => {
  const outcome = await box.run(applyPatch, { patch: lines.join('\n') });
  expect(outcome.status).toBe('failed');
  expect(outcome.output).toMatch(reason);
});

test('files that are in each other’s way are refused', async () => {
  await box.putSeen('a', 'x\n');
  await box.put('there', 'x\n');
  expect((await patch('*** Add File: there', '+x')).output).toContain('Expected no file at there');
  expect((await patch('*** Update File: a', '*** Move to: there')).output).toContain(
    'Expected no file at there',
  );
  expect((await patch('*** Add File: n', '+x', '*** Add File: ./n', '+y')).output).toContain('twice');
  expect((await patch('*** Add File: n', '+x', '*** Add File: n/m', '+y')).output).toContain('as a folder');
  expect((await patch('*** Add File: ../n', '+x')).output).toContain('outside of the workspace');
  expect(await box.leftovers()).toEqual([]);
});
