import { mkdir, rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { gitStatus } from '../../../src/activities/tools/gitStatus.ts';
import { Bench } from '../runner/support.ts';
import { GitRepo, isolateGit } from './gitRepo.ts';

let bench: Bench;

beforeEach(async () => {
  bench = await Bench.make();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await bench[Symbol.asyncDispose]();
});

test('staged, unstaged and untracked files are told apart', async () => {
  const repo = await GitRepo.make(bench, {
    a: 'a\n',
    b: 'b\n',
    c: 'long enough to be found again\n',
    d: 'd\n',
  });
  await repo.put('a', 'staged\n');
  repo.git('add', 'a');
  await repo.put('a', 'and changed again\n');
  repo.git('mv', 'c', 'moved to');
  await rm(`${repo.root}/d`);
  await repo.put('new/x', 'x');
  expect(await gitStatus.run({}, repo.context())).toEqual({
    status: 'success',
    output: [
      `On branch main, HEAD ${repo.head}.`,
      'Staged (2):',
      '  modified a',
      '  renamed moved to (from c)',
      'Not staged (2):',
      '  modified a',
      '  deleted d',
      'Untracked (1):',
      '  new/',
    ].join('\n'),
  });
});

test('a clean repository says so, with its upstream', async () => {
  const repo = await GitRepo.make(bench);
  repo.git('clone', '--quiet', '.', '../clone');
  const clone = new GitRepo(bench, bench.path('clone'));
  await repo.commitFiles({ a: '2' }, 'theirs');
  clone.git('fetch', '--quiet');
  const { output } = await gitStatus.run({}, clone.context());
  expect(output).toBe(
    `On branch main, HEAD ${clone.head}.\nUpstream origin/main: 0 ahead, 1 behind.\nNothing is changed.`,
  );
});

test('a repository without a commit, and a HEAD without a branch', async () => {
  const repo = await GitRepo.make(bench, {});
  expect((await gitStatus.run({}, repo.context())).output).toMatch(
    /^On branch main, HEAD unborn \(no commit yet\)\./,
  );
  await repo.commitFiles({ a: 'a' }, 'first');
  repo.git('checkout', '--quiet', '--detach');
  expect((await gitStatus.run({}, repo.context())).output).toMatch(
    /^On no branch \(HEAD is detached\), HEAD [0-9a-f]{40}\./,
  );
});

test('conflicts of a merge that is in progress are named, with the way out', async () => {
  const repo = await GitRepo.make(bench);
  repo.git('checkout', '--quiet', '-b', 'other');
  await repo.commitFiles({ a: 'theirs\n' }, 'theirs');
  repo.git('checkout', '--quiet', 'main');
  await repo.commitFiles({ a: 'ours\n' }, 'ours');
  expect(() => repo.git('merge', 'other')).toThrow();
  const { output } = await gitStatus.run({}, repo.context());
  expect(output).toContain(
    'A merge is in progress: git merge --continue, or git merge --abort.\nConflicts (1):\n  UU a',
  );
});

test('of a larger repository only what is in the workspace is listed', async () => {
  const repo = await GitRepo.make(bench, { a: 'a', 'sub dir/b': 'b' });
  await repo.put('a', '2');
  await repo.put('sub dir/b', '2');
  const { output } = await gitStatus.run({}, repo.context({ workspace: `${repo.root}/sub dir` }));
  expect(output).toContain(
    `The workspace is sub dir/ of the repository at ${repo.root}; only its files are listed.`,
  );
  expect(output).toMatch(/Not staged \(1\):\n {2}modified b$/);
});

test('where there is no repository, the result says what to do', async () => {
  isolateGit(bench);
  expect(await gitStatus.run({}, bench.context())).toEqual({
    status: 'failed',
    output: `Expected a git repository, found none at ${bench.root} or above. If there should be one, make it with \`git init\` in bash.`,
  });
});

test('where there is no git, the result says what to do', async () => {
  await mkdir(bench.path('bin'));
  const outcome = await gitStatus.run({}, bench.context({ env: { PATH: bench.path('bin') } }));
  expect(outcome).toMatchObject({
    status: 'failed',
    output: expect.stringMatching(/found none on the PATH.*Install git/),
  });
});

test('variables that lead git elsewhere are not followed', async () => {
  const repo = await GitRepo.make(bench);
  const env = { ...repo.context().env, GIT_DIR: '/nowhere', GIT_INDEX_FILE: '/nowhere', GIT_WORK_TREE: '/' };
  expect((await gitStatus.run({}, repo.context({ env }))).output).toContain(repo.head);
});

test('no hook is run, and the index is not written', async () => {
  const repo = await GitRepo.make(bench);
  await repo.hook('ran', 'touch ran');
  await repo.hook('post-index-change', 'touch ran');
  repo.git('config', 'core.fsmonitor', '.git/hooks/ran');
  await repo.put('a', 'a\n'); // a newer time, which makes git refresh its index
  expect((await gitStatus.run({}, repo.context())).output).toMatch(/Nothing is changed/);
});

test('names of any bytes are shown, and a lock that is there is told', async () => {
  const repo = await GitRepo.make(bench);
  await repo.put('line\nend "quoted" ä', '');
  await writeFile(Buffer.from(`${repo.root}/latin\xe4`, 'latin1'), '');
  await repo.put('.git/index.lock', '');
  const { output } = await gitStatus.run({}, repo.context());
  expect(output).toContain('line\nend "quoted" ä');
  expect(output).toContain('latin\uFFFD');
  expect(output).toMatch(/There is a lock, .*index\.lock, since 20.*Holdfast does not delete it/);
});

test('a long list is bounded, and the whole is kept', async () => {
  const repo = await GitRepo.make(bench);
  const names = Array.from({ length: 600 }, (_, index) => `${index}-${'x'.repeat(40)}`);
  await Promise.all(names.map((name) => repo.put(name, '')));
  const outcome = await gitStatus.run({}, repo.context());
  expect(outcome.blob?.bytes).toBeGreaterThan(600 * 40);
  expect(outcome.output).toMatch(/are cut here/);
});
