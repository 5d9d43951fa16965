import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keyFor, storeKey } from '../../src/host/credentials.ts';
import { homeAt, type Home } from '../../src/host/home.ts';

let home: Home;
beforeEach(async () => {
  home = homeAt(join(await mkdtemp(join(tmpdir(), 'hf-')), 'home'));
});
afterEach(async () => rm(join(home.root, '..'), { recursive: true }));

test('a key is kept for its endpoint alone, for the user alone', async () => {
  expect(await storeKey(home, null, 'sk-openai')).toBe(true);
  expect(await storeKey(home, 'http://127.0.0.1:1/v1/', 'sk-local')).toBe(true);
  expect(await keyFor(home, null, {})).toBe('sk-openai');
  expect(await keyFor(home, 'https://api.openai.com/v1', {})).toBe('sk-openai');
  expect(await keyFor(home, 'http://127.0.0.1:1/v1', {})).toBe('sk-local');
  expect(await keyFor(home, 'http://127.0.0.1:2/v1', {})).toBeUndefined();
  expect((await stat(home.credentialsFile)).mode & 0o777).toBe(0o600);
});

test('the same key again changes nothing, a new one replaces the old', async () => {
  await storeKey(home, null, 'sk-1');
  const { ino } = await stat(home.credentialsFile);
  expect(await storeKey(home, null, 'sk-1')).toBe(false);
  expect((await stat(home.credentialsFile)).ino).toBe(ino);
  expect(await storeKey(home, null, 'sk-2')).toBe(true);
  expect(await keyFor(home, null, {})).toBe('sk-2');
});

test("the worker's own key serves its own endpoint, and no other", async () => {
  const env = { OPENAI_API_KEY: 'sk-env', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' };
  expect(await keyFor(home, 'http://127.0.0.1:1/v1', env)).toBe('sk-env');
  expect(await keyFor(home, null, env)).toBeUndefined();
});

test('a damaged file is reported and kept', async () => {
  await storeKey(home, null, 'sk-1');
  await writeFile(home.credentialsFile, '{"https');
  await expect(storeKey(home, null, 'sk-2')).rejects.toThrow(/Expected a JSON object.*credentials\.json/);
  expect(await readFile(home.credentialsFile, 'utf8')).toBe('{"https');
});
