import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A checkout of its own, with a small workflow in the place of ours. */
let checkout: string;
beforeEach(async () => {
  checkout = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
  for (const folder of ['worker', 'host', 'domain'])
    await cp(join(ROOT, 'src', folder), join(checkout, 'src', folder), { recursive: true });
  await mkdir(join(checkout, 'src', 'workflows'));
  await writeFile(entry(), 'export async function small(): Promise<string> { return "one"; }\n');
  await writeFile(join(checkout, 'package.json'), '{"type": "module"}');
  await mkdir(join(checkout, 'node_modules'));
  await symlink(join(ROOT, 'node_modules', '@temporalio'), join(checkout, 'node_modules', '@temporalio'));
});
afterEach(async () => rm(checkout, { recursive: true, force: true }));

function entry(): string {
  return join(checkout, 'src', 'workflows', 'index.ts');
}

/** What `workflowBundle` answers in that checkout, in a process of its own. */
async function bundle(): Promise<string> {
  const module = join(checkout, 'src', 'worker', 'bundle.ts');
  const script = `const { workflowBundle } = await import(${JSON.stringify(module)}); console.log(await workflowBundle());`;
  const { stdout } = await execa(process.execPath, ['--input-type=module', '-e', script]);
  return stdout;
}

test('a checkout builds its workflows once, and again when their source has changed', async () => {
  const first = await bundle();
  expect(first).toMatch(/node_modules\/\.cache\/holdfast\/workflows-[0-9a-f]{16}\.js$/);
  expect(await readFile(first, 'utf8')).toContain('"one"');
  // What is there is taken as it is.
  await writeFile(first, 'marked');
  expect(await bundle()).toBe(first);
  expect(await readFile(first, 'utf8')).toBe('marked');

  await writeFile(entry(), 'export async function small(): Promise<string> { return "two"; }\n');
  const second = await bundle();
  expect(second).not.toBe(first);
  expect(await readFile(second, 'utf8')).toContain('"two"');
  expect(await readdir(join(checkout, 'node_modules', '.cache', 'holdfast'))).toHaveLength(2);
});

test('the published package brings its bundle, and nothing is built', async () => {
  const prebuilt = join(checkout, 'src', 'workflow-bundle.js');
  await writeFile(prebuilt, '');
  await appendFile(entry(), 'this is no code');
  expect(await bundle()).toBe(prebuilt);
  expect(await readdir(join(checkout, 'node_modules'))).toEqual(['@temporalio']);
});

test('a source that is no code is an error, and leaves no bundle', async () => {
  await appendFile(entry(), 'this is no code');
  await expect(bundle()).rejects.toThrow();
  expect(await readdir(join(checkout, 'node_modules'))).not.toContain('.cache');
});
