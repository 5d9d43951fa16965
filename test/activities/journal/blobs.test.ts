import { readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { makeSandbox, type Sandbox, sha256 } from '../workspace/sandbox.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await makeSandbox();
});

function placeOf(hash: string): string {
  return join(box.blobs.root, hash.slice(0, 2), hash);
}

test('equal bytes are stored once, by their hash, for the user alone', async () => {
  const ref = await box.blobs.put(Buffer.from('output'));
  expect(ref).toEqual({ sha256: sha256('output'), bytes: 6 });
  const { ino } = await stat(placeOf(ref.sha256));
  expect(await box.blobs.put(Buffer.from('output'))).toEqual(ref);
  const again = await stat(placeOf(ref.sha256));
  expect(again.ino).toBe(ino);
  expect(again.mode & 0o777).toBe(0o600);
});

test('a file is stored as the same bytes are, and no copy is left', async () => {
  await writeFile(join(box.root, 'spool'), 'output');
  expect(await box.blobs.putFile(join(box.root, 'spool'))).toEqual(
    await box.blobs.put(Buffer.from('output')),
  );
  expect(await readdir(box.blobs.root)).toEqual([sha256('output').slice(0, 2)]);
});

test('a part is read, and less at the end', async () => {
  const ref = await box.blobs.put(Buffer.from('0123456789'));
  expect((await box.blobs.read(ref, 2, 3)).toString()).toBe('234');
  expect((await box.blobs.read(ref, 8, 10)).toString()).toBe('89');
  expect((await box.blobs.read(ref, 20, 10)).toString()).toBe('');
});

test('a blob that was cut short is written again', async () => {
  const ref = await box.blobs.put(Buffer.from('output'));
  await truncate(placeOf(ref.sha256), 2);
  await box.blobs.put(Buffer.from('output'));
  expect((await box.blobs.read(ref, 0, 6)).toString()).toBe('output');
});

test('a blob that is not here rejects with ENOENT', async () => {
  const ref = { sha256: sha256('elsewhere'), bytes: 9 };
  await expect(box.blobs.read(ref, 0, 9)).rejects.toMatchObject({ code: 'ENOENT' });
});
