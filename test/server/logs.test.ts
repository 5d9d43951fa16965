import { appendFile, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { quoteLog, rotateIfLarge } from '../../src/server/logs.ts';
import { cleanUp, tempFolder } from './support.ts';

afterEach(cleanUp);

test('a log that has grown is moved aside while its writer goes on, and three files are kept', async () => {
  const path = join(await tempFolder(), 'x.log');
  const writer = await open(path, 'a');
  try {
    for (const text of ['first', 'second', 'third', 'fourth']) {
      await writer.write(text);
      await rotateIfLarge(path, 3);
    }
    await writer.write('now');
    await rotateIfLarge(path, 3);
  } finally {
    await writer.close();
  }
  const read = async (name: string): Promise<string> => await readFile(`${path}${name}`, 'utf8');
  expect(await Promise.all(['', '.1', '.2'].map(read))).toEqual(['now', 'fourth', 'third']);
  await expect(read('.3')).rejects.toThrow('ENOENT');
});

test('a log that is not there needs no rotation, and an error says that it is empty', async () => {
  const path = join(await tempFolder(), 'x.log');
  await rotateIfLarge(path, 3);
  expect(await quoteLog(path)).toBe(`${path} is empty.`);
});

test('an error quotes the last lines alone, however long the log', async () => {
  const path = join(await tempFolder(), 'x.log');
  await writeFile(path, 'x'.repeat(100_000));
  await appendFile(path, `\n${Array.from({ length: 20 }, (_, index) => `line ${index}`).join('\n')}\n`);
  const quoted = (await quoteLog(path)).split('\n');
  expect(quoted).toHaveLength(9);
  expect(quoted.at(1)).toBe('  line 12');
  expect(quoted.at(-1)).toBe('  line 19');
});
