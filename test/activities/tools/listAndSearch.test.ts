import { beforeEach, expect, test } from 'vitest';
import { listFiles } from '../../../src/activities/tools/listFiles.ts';
import { search } from '../../../src/activities/tools/search.ts';
import { OUTPUT_MAX_BYTES } from '../../../src/domain/limits.ts';
import { makeSandbox, type Sandbox } from '../workspace/sandbox.ts';

let box: Sandbox;
beforeEach(async () => {
  box = await makeSandbox();
  await box.put('.gitignore', 'node_modules/\n*.log\n');
  await box.put('.git/HEAD', 'ref: main\n');
  await box.put('.github/ci.yml', 'run: needle\n');
  await box.put('src/a.ts', 'const needle = 1;\r\nNeedle\n');
  await box.put('src/deep/b.md', 'a needle here\n');
  await box.put('node_modules/x/index.js', 'needle\n');
  await box.put('debug.log', 'needle\n');
  await box.put('.holdfast-op.1-1-0.tmp', 'needle\n');
});

async function listed(args: object = {}): Promise<string[]> {
  return (await box.run(listFiles, args)).output.split('\n');
}

test('files are listed with hidden ones, without what git ignores, .git and staged copies', async () => {
  expect(await listed()).toEqual([
    '[4 files: .]',
    '.github/ci.yml',
    '.gitignore',
    'src/a.ts',
    'src/deep/b.md',
  ]);
});

test('a folder and a glob narrow the list', async () => {
  expect(await listed({ path: 'src' })).toEqual(['[2 files: src]', 'src/a.ts', 'src/deep/b.md']);
  expect(await listed({ glob: '*.md' })).toEqual(['[1 file: ., glob *.md]', 'src/deep/b.md']);
  expect(await listed({ glob: 'src/**/*.ts' })).toEqual(['[1 file: ., glob src/**/*.ts]', 'src/a.ts']);
  expect((await listed({ glob: '*.rs' }))[0]).toContain('no files: ., glob *.rs');
  expect((await box.run(listFiles, { glob: '{a' })).output).toContain('unclosed alternate');
});

test('an ignored folder is listed when its path is given, and .git too', async () => {
  expect(await listed({ path: 'node_modules/x' })).toContain('node_modules/x/index.js');
  expect(await listed({ path: '.git' })).toContain('.git/HEAD');
});

test('where the files are too many, the entries are shown with their counts', async () => {
  const names = Array.from({ length: 900 }, (_, index) => `many/file-with-a-long-name-${index}.txt`);
  for (const name of names) await box.put(name, '');
  const lines = await listed();
  expect(lines[0]).toMatch(/^\[904 files: \.\. Too many/);
  expect(lines).toContain('many/ (900 files)');
  expect(lines).toContain('.gitignore');
  const flat = await box.run(listFiles, { path: 'many' });
  expect(Buffer.byteLength(flat.output)).toBeLessThanOrEqual(OUTPUT_MAX_BYTES);
  expect(flat.output).toMatch(/more entries are not shown/);
});

test('a name with a line end is one line', async () => {
  await box.put('src/odd\nname', '');
  expect(await listed({ path: 'src' })).toContain(String.raw`"src/odd\nname"`);
});

test('a missing folder, one outside and a fifo are refused', async () => {
  expect((await listed({ path: 'scr' }))[0]).toContain('Near names: src');
  expect((await listed({ path: '..' }))[0]).toContain('outside of the workspace');
  box.makeFifo('fifo');
  expect((await box.run(search, { pattern: 'x', path: 'fifo' })).status).toBe('failed');
});

test('matches are shown as path, line and text', async () => {
  const { output } = await box.run(search, { pattern: 'needle' });
  expect(output.split('\n')).toEqual([
    '[3 lines]',
    '.github/ci.yml:1:run: needle',
    'src/a.ts:1:const needle = 1;',
    'src/deep/b.md:1:a needle here',
  ]);
});

test('a search is narrowed by path and glob, and may ignore case, look around and cross lines', async () => {
  expect((await box.run(search, { pattern: '(?i)^needle', path: 'src/a.ts' })).output).toContain(
    'src/a.ts:2:Needle',
  );
  expect((await box.run(search, { pattern: 'needle', glob: '*.md' })).output).not.toContain('a.ts');
  expect((await box.run(search, { pattern: '(?<=const )needle' })).output).toContain('src/a.ts:1');
  expect((await box.run(search, { pattern: String.raw`1;\r?\nNeedle` })).output).toContain(
    'src/a.ts:2:Needle',
  );
  expect((await box.run(search, { pattern: '-e', path: 'src' })).output).toContain('no matches');
});

test('a bad regular expression is a result that says what is wrong', async () => {
  const outcome = await box.run(search, { pattern: 'a(b' });
  expect(outcome.status).toBe('failed');
  expect(outcome.output).toMatch(/unclosed group/);
});

test('nothing found is a success that says so', async () => {
  expect(await box.run(search, { pattern: 'nowhere' })).toMatchObject({
    status: 'success',
    output: expect.stringContaining('no matches'),
  });
});

test('very many matches, and very long lines, are bounded and counted (case 14)', async () => {
  await box.put('many.txt', 'needle in a line\n'.repeat(5000));
  await box.put('long.txt', `needle${'x'.repeat(5_000_000)}\n`);
  const { output } = await box.run(search, { pattern: 'needle' });
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(OUTPUT_MAX_BYTES);
  expect(output).toMatch(/^\[\d+ of 5004 lines; narrow the search/);
  await box.put('more.txt', 'needle in a line\n'.repeat(100_000));
  expect((await box.run(search, { pattern: 'needle' })).output).toMatch(/^\[\d+ of more than \d+ lines/);
});

test('an interrupt stops the search', async () => {
  const context = box.context({ signal: AbortSignal.abort() });
  expect(await box.run(search, { pattern: 'x' }, context)).toMatchObject({ status: 'cancelled' });
  const controller = new AbortController();
  const running = box.run(search, { pattern: 'needle' }, box.context({ signal: controller.signal }));
  setImmediate(() => controller.abort());
  expect(['cancelled', 'success']).toContain((await running).status);
});
