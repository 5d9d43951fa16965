import { chmod, mkdir, stat } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { writeFile } from '../../../src/activities/tools/writeFile.ts';
import { makeSandbox, type Sandbox, sha256 } from '../workspace/sandbox.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await makeSandbox();
});

test('a new file is created with its folders, and needs no earlier read', async () => {
  const outcome = await box.run(writeFile, { path: 'a/b/c.txt', content: 'one\ntwo' });
  expect(await box.text('a/b/c.txt')).toBe('one\ntwo');
  expect(outcome).toEqual({
    status: 'success',
    output: `Created a/b/c.txt: 2 lines, 7 bytes. Version ${sha256('one\ntwo')}.`,
    versions: [{ path: 'a/b/c.txt', version: sha256('one\ntwo') }],
  });
  expect(await box.leftovers()).toEqual([]);
});

test('a file that was read is replaced, and keeps its mode', async () => {
  await box.putSeen('run.sh', 'old');
  await chmod(box.path('run.sh'), 0o755);
  expect((await box.run(writeFile, { path: 'run.sh', content: 'new' })).output).toMatch(/^Replaced run\.sh/);
  expect(await box.text('run.sh')).toBe('new');
  expect((await stat(box.path('run.sh'))).mode & 0o777).toBe(0o755);
});

test('a file that is there and was never read is refused with READ_FIRST', async () => {
  await box.put('a.txt', 'mine');
  const { status, output } = await box.run(writeFile, { path: 'a.txt', content: 'x' });
  expect(status).toBe('failed');
  expect(output).toMatch(/^READ_FIRST: .*read_file \{"path":"a\.txt"\}/);
  expect(await box.text('a.txt')).toBe('mine');
});

test('a file that was not there when the session looked, and is now, is refused with FILE_CHANGED', async () => {
  await box.put('a.txt', 'mine');
  box.seen.set('a.txt', null);
  const { output } = await box.run(writeFile, { path: 'a.txt', content: 'x' });
  expect(output).toMatch(/^FILE_CHANGED: .*Expected no file/);
});

test('a file that is gone is refused once with FILE_CHANGED, and can then be created on purpose', async () => {
  box.seen.set('a.txt', sha256('was there'));
  const first = await box.run(writeFile, { path: 'a.txt', content: 'x' });
  expect(first).toMatchObject({ status: 'failed', versions: [{ path: 'a.txt', version: null }] });
  expect(first.output).toMatch(/^FILE_CHANGED: a\.txt is gone/);
  expect(await box.run(writeFile, { path: 'a.txt', content: 'x' })).toMatchObject({ status: 'success' });
});

test('expected_version decides instead of what the session saw', async () => {
  await box.put('a.txt', 'now');
  const wrong = { path: 'a.txt', content: 'x', expected_version: sha256('other') };
  expect((await box.run(writeFile, wrong)).output).toMatch(/^FILE_CHANGED/);
  const right = { path: 'a.txt', content: 'x', expected_version: sha256('now') };
  expect(await box.run(writeFile, right)).toMatchObject({ status: 'success' });
  const missing = { path: 'b.txt', content: 'x', expected_version: sha256('now') };
  expect((await box.run(writeFile, missing)).output).toMatch(/^FILE_CHANGED: b\.txt is gone/);
});

test('content that is there already is not written again', async () => {
  await box.putSeen('a.txt', 'same');
  const before = (await stat(box.path('a.txt'))).ino;
  expect((await box.run(writeFile, { path: 'a.txt', content: 'same' })).output).toContain(
    'nothing was written',
  );
  expect((await stat(box.path('a.txt'))).ino).toBe(before);
});

test('folders, the inside of .git and half characters are refused', async () => {
  await mkdir(box.path('.git'));
  await mkdir(box.path('src'));
  const refused: [string, string, RegExp][] = [
    ['src', 'x', /is a folder/],
    ['new/', 'x', /names a folder/],
    ['.', 'x', /workspace's root/],
    ['.git/config', 'x', /inside of \.git/],
    ['.GIT/config', 'x', /inside of \.git/],
    ['sub/.git/hooks/pre-commit', 'x', /inside of \.git/],
    ['a.txt', '\udc00', /surrogate/],
    ['', 'x', /Expected a path/],
  ];
  for (const [path, content, reason] of refused) {
    const outcome = await box.run(writeFile, { path, content });
    expect(outcome.status, path).toBe('failed');
    expect(outcome.output).toMatch(reason);
  }
});

test('a path through a file is refused', async () => {
  await box.put('a.txt', 'x');
  const outcome = await box.run(writeFile, { path: 'a.txt/b', content: 'x' });
  expect(outcome).toMatchObject({ status: 'failed', output: expect.stringContaining('not a folder') });
});

test('a file changed between the check and the write is not overwritten', async () => {
  await box.putSeen('a.txt', 'seen');
  const context = box.context();
  const enter = context.operation.enterGate.bind(context.operation);
  context.operation.enterGate = async (attempt, by) => {
    await enter(attempt, by);
    await box.put('a.txt', 'somebody else');
  };
  const outcome = await box.run(writeFile, { path: 'a.txt', content: 'x' }, context);
  expect(outcome.output).toMatch(/^FILE_CHANGED.*Nothing was changed\.$/s);
  expect(await box.text('a.txt')).toBe('somebody else');
  expect(await box.leftovers()).toEqual([]);
});
