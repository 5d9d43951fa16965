import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readFile } from '../../../src/activities/tools/readFile.ts';
import { writeFile as writeTool } from '../../../src/activities/tools/writeFile.ts';
import { resolveInWorkspace } from '../../../src/activities/workspace/paths.ts';
import { makeSandbox, type Sandbox } from './sandbox.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await makeSandbox();
});

async function resolved(path: string): Promise<string> {
  return (await resolveInWorkspace(box.workspace, path)).relative;
}

test('paths are relative to the workspace or absolute inside of it', async () => {
  await mkdir(box.path('src'));
  expect(await resolved('src/./a.ts')).toBe('src/a.ts');
  expect(await resolved('src/../b.ts')).toBe('b.ts');
  expect(await resolved(box.path('src/a.ts'))).toBe('src/a.ts');
  expect(await resolved('.')).toBe('.');
  expect(await resolved('not/yet/there.ts')).toBe('not/yet/there.ts');
});

test('links inside of the workspace are followed, also below folders that do not exist yet', async () => {
  await mkdir(box.path('real'));
  await symlink('real', box.path('link'));
  await symlink(box.path('link/later'), box.path('dangling'));
  await symlink(box.root, join(box.root, 'alias'));
  expect(await resolved('link/a.ts')).toBe('real/a.ts');
  expect(await resolved('dangling/x')).toBe('real/later/x');
  expect(await resolved('link/../a.ts')).toBe('a.ts');
  expect(await resolved(join(box.root, 'alias/workspace/link/a.ts'))).toBe('real/a.ts');
});

test('a path that leads outside is refused, however it does so, and nothing is made there', async () => {
  const outside = join(box.root, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'secret'), 'x');
  await mkdir(`${box.workspace}-sibling`);
  await symlink(outside, box.path('folder'));
  await symlink(join(outside, 'secret'), box.path('file'));
  await symlink(join(outside, 'new'), box.path('dangling'));
  await symlink('folder', box.path('twice'));
  await symlink('..', box.path('up'));
  const escapes = [
    '..',
    '../outside/secret',
    'a/../../outside/secret',
    '/etc/passwd',
    join(outside, 'secret'),
    `${box.workspace}-sibling/x`,
    'folder/secret',
    'folder/new/deep',
    'file',
    'dangling',
    'twice/secret',
    'up/outside/secret',
  ];
  for (const path of escapes) {
    const read = await box.run(readFile, { path });
    expect(read, path).toMatchObject({
      status: 'failed',
      output: expect.stringContaining('outside of the workspace'),
    });
    const write = await box.run(writeTool, { path, content: 'x' });
    expect(write.output, path).toContain('outside of the workspace');
  }
  expect(await readdir(outside)).toEqual(['secret']);
});

test('links in a circle are refused', async () => {
  await symlink('b', box.path('a'));
  await symlink('a', box.path('b'));
  expect((await box.run(readFile, { path: 'a' })).output).toContain('circle');
});

test('a fifo, a device and a folder are refused without waiting', async () => {
  box.makeFifo('fifo');
  await mkdir(box.path('folder'));
  expect((await box.run(readFile, { path: 'fifo' })).output).toContain('no regular file');
  expect((await box.run(readFile, { path: 'folder' })).output).toContain('list_files');
  expect((await box.run(writeTool, { path: 'fifo', content: 'x' })).output).toContain('no regular file');
});

test('the inside of .git may be read', async () => {
  await box.put('.git/HEAD', 'ref: refs/heads/main\n');
  expect(await box.run(readFile, { path: '.git/HEAD' })).toMatchObject({ status: 'success' });
});
