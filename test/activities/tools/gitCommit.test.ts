import { mkdir, rm, symlink } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { gitCommit } from '../../../src/activities/tools/gitCommit.ts';
import type { ToolContext } from '../../../src/activities/tools/tool.ts';
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

async function commit(args: object, context: ToolContext) {
  return gitCommit.run(gitCommit.schema.parse(args), context);
}

/** Refused, and neither history nor index nor working tree is other than before. */
async function refused(repo: GitRepo, args: object, context = repo.context()): Promise<string> {
  const before = [repo.git('log', '--all', '--format=%H'), repo.git('ls-files', '--stage'), ...repo.status];
  const { status, output } = await commit(args, context);
  expect(status).toBe('failed');
  expect([repo.git('log', '--all', '--format=%H'), repo.git('ls-files', '--stage'), ...repo.status]).toEqual(
    before,
  );
  return output;
}

test('what is staged is committed, and the result has the sha and what is in it', async () => {
  const repo = await GitRepo.make(bench);
  const before = repo.head;
  await repo.put('a', 'staged\n');
  repo.git('add', 'a');
  await repo.put('b', 'not staged\n');
  const context = repo.context();
  const outcome = await commit({ message: 'Change a\n\nbecause' }, context);
  expect(outcome).toEqual({
    status: 'success',
    output: `Committed ${repo.head} on branch main: Change a\nParent: ${before}.\n1 file changed, 1 insertion(+), 1 deletion(-):\nM a`,
  });
  expect(repo.git('log', '-1', '--format=%B')).toBe(
    `Change a\n\nbecause\n\nHoldfast-Operation: ${context.operation.operation_id}`,
  );
  expect(repo.status).toEqual(['M b']);
});

test('named paths are committed, new and deleted ones too, and the rest of the index is left alone', async () => {
  const repo = await GitRepo.make(bench, { a: 'a', b: 'b', c: 'c', 'd/e': 'e' });
  await repo.put('b', 'staged');
  repo.git('add', 'b');
  await repo.put('a', 'changed');
  await repo.put('new file', 'new');
  await repo.put('d/f', 'new');
  await repo.put('other', 'new');
  await rm(`${repo.root}/c`);
  const outcome = await commit({ message: 'x', paths: ['a', 'new file', 'c', 'd'] }, repo.context());
  expect(outcome.output).toMatch(/4 files changed, .*:\nM a\nD c\nA d\/f\nA new file$/);
  expect(repo.status).toEqual(['M  b', '?? other']);
});

test('paths are taken literally, from the workspace, and a symbolic link is committed itself', async () => {
  const repo = await GitRepo.make(bench, { 'sub/a*': '1', 'sub/ab': '1', a: '1' });
  for (const path of ['sub/a*', 'sub/ab', 'a', 'sub/..b']) await repo.put(path, '2');
  await symlink('/etc/passwd', `${repo.root}/sub/link`);
  const context = repo.context({ workspace: `${repo.root}/sub` });
  const { output } = await commit({ message: 'x', paths: ['./a*', 'link', '..b'] }, context);
  expect(output).toMatch(/:\nA sub\/\.\.b\nM sub\/a\*\nA sub\/link$/);
});

test('the first commit of a repository, and one without a branch', async () => {
  const repo = await GitRepo.make(bench, {});
  await repo.put('a', 'a');
  expect((await commit({ message: 'x', paths: ['a'] }, repo.context())).output).toMatch(
    /on branch main: x\nParent: none, it is the first commit\.\n1 file changed/,
  );
  repo.git('checkout', '--quiet', '--detach');
  await repo.put('a', 'b');
  expect((await commit({ message: 'y', paths: ['a'] }, repo.context())).output).toMatch(
    /on no branch \(HEAD is detached\): y/,
  );
});

test.each([
  ['a line like a comment', 'Fix\n\n#12 is done'],
  ['quotes and dollars', `it's "$HOME" \`id\`\n\n$(touch ran)`],
  ['a line of dashes', 'x\n\n---\nmore'],
  ['a trailer of its own', 'x\n\nSigned-off-by: A <a@example.com>'],
])('a message with %s stays as it is, and gets its trailer', async (_, message) => {
  const repo = await GitRepo.make(bench);
  await repo.put('a', '2');
  const context = repo.context();
  expect(await commit({ message, paths: ['a'] }, context)).toMatchObject({ status: 'success' });
  expect(repo.git('log', '-1', '--format=%B').startsWith(message)).toBe(true);
  expect(repo.operations).toEqual([context.operation.operation_id]);
});

test('a merge is concluded by a commit of what is staged', async () => {
  const repo = await GitRepo.make(bench);
  repo.git('checkout', '--quiet', '-b', 'other');
  await repo.commitFiles({ a: 'theirs\n' }, 'theirs');
  repo.git('checkout', '--quiet', 'main');
  await repo.commitFiles({ a: 'ours\n' }, 'ours');
  expect(() => repo.git('merge', 'other')).toThrow();
  expect(await refused(repo, { message: 'x' })).toMatch(/1 file with conflicts:\n- a\nSolve them/);
  await repo.put('a', 'both\n');
  repo.git('add', 'a');
  expect(await refused(repo, { message: 'x', paths: ['a'] })).toMatch(
    /a merge is in progress.*without paths/,
  );
  expect((await commit({ message: 'merged' }, repo.context())).status).toBe('success');
  expect(repo.git('log', '-1', '--format=%P').split(' ')).toHaveLength(2);
});

test('with an expected HEAD nothing is committed on any other', async () => {
  const repo = await GitRepo.make(bench);
  const seen = repo.head;
  await repo.commitFiles({ b: '2' }, 'somebody else');
  await repo.put('a', '2');
  expect(await refused(repo, { message: 'x', paths: ['a'], expected_head: seen })).toBe(
    `Nothing was committed: expected HEAD ${seen}, found ${repo.head} on branch main. Somebody else has committed, reset or switched; look with git_status and \`git log\`, then decide.`,
  );
  const expected_head = repo.head.slice(0, 9).toUpperCase();
  expect((await commit({ message: 'x', paths: ['a'], expected_head }, repo.context())).status).toBe(
    'success',
  );
});

test('nothing staged, nothing changed, and paths without a change are refused with what there is', async () => {
  const repo = await GitRepo.make(bench, { a: 'a', '.gitignore': 'ignored\n' });
  expect(await refused(repo, { message: 'x' })).toMatch(/nothing in the workspace is changed/);
  await repo.put('a', '2');
  await repo.put('new', '2');
  await repo.put('ignored', '2');
  expect(await refused(repo, { message: 'x' })).toMatch(/nothing is staged\. Name .* Changed:\n- a\n- new$/);
  expect(await refused(repo, { message: 'x', paths: ['a', 'ignored'] })).toMatch(
    /change in ignored, found none: it is unchanged since HEAD, or ignored/,
  );
  expect(await refused(repo, { message: 'x', paths: ['gone'] })).toMatch(
    /no such file, neither here nor in HEAD/,
  );
  expect(await refused(repo, { message: 'x', paths: ['../a'] })).toMatch(
    /\.\.\/a is outside of the workspace/,
  );
});

test('staged files outside of the workspace are not swept in', async () => {
  const repo = await GitRepo.make(bench, { a: 'a', 'sub/b': 'b' });
  await repo.put('a', '2');
  await repo.put('sub/b', '2');
  repo.git('add', '--all');
  const context = repo.context({ workspace: `${repo.root}/sub` });
  expect(await refused(repo, { message: 'x' }, context)).toMatch(
    /1 staged file outside of the workspace .*:\n- a\n/,
  );
  expect(
    (await commit({ message: 'x', paths: ['b'] }, repo.context({ workspace: `${repo.root}/sub` }))).output,
  ).toMatch(/:\nM sub\/b$/);
  expect(repo.status).toEqual(['M  a']);
});

test('a repository inside of a path is not taken for files', async () => {
  const repo = await GitRepo.make(bench);
  repo.git('init', '--quiet', 'nested/inner');
  expect(await refused(repo, { message: 'x', paths: ['nested'] })).toMatch(
    /repositories of their own in these paths:\n- nested\/inner\//,
  );
});

test('without an author nothing is committed, and the result says who has to say what', async () => {
  const repo = await GitRepo.make(bench);
  repo.git('config', '--unset', 'user.email');
  repo.git('config', 'user.useConfigOnly', 'true');
  await repo.put('a', '2');
  expect(await refused(repo, { message: 'x', paths: ['a'] })).toMatch(
    /git does not know who commits \(.*\)\. The user has to say it: git config user\.name/,
  );
});

test('a lock of the index is named and left where it is', async () => {
  const repo = await GitRepo.make(bench);
  await repo.put('a', '2');
  await repo.put('.git/index.lock', '');
  expect(await refused(repo, { message: 'x', paths: ['a'] })).toMatch(
    /Nothing was committed\. There is a lock, .*index\.lock, since/,
  );
});

test('where there is no repository nothing is committed', async () => {
  isolateGit(bench);
  await mkdir(bench.path('plain'));
  const outcome = await commit({ message: 'x' }, bench.context({ workspace: bench.path('plain') }));
  expect(outcome).toMatchObject({
    status: 'failed',
    output: expect.stringMatching(/Expected a git repository/),
  });
});

test('a hook that refuses is a failed result with its output, and all is as before', async () => {
  const repo = await GitRepo.make(bench);
  await repo.hook('pre-commit', 'echo "lint: 3 errors"; exit 1');
  await repo.put('a', '2');
  await repo.put('new', '2');
  await repo.put('b', 'staged');
  repo.git('add', 'b');
  const output = await refused(repo, { message: 'x', paths: ['a', 'new'] });
  expect(output).toMatch(
    new RegExp(
      `^\\[git commit ended with exit code 1, ran .*\\]\nNothing was committed: HEAD is still ${repo.head}\\.\nGit and its hooks said:\nlint: 3 errors\n$`,
    ),
  );
});

test('what hooks say is in the result of a commit that was made', async () => {
  const repo = await GitRepo.make(bench);
  await repo.hook('pre-commit', 'echo checked');
  await repo.hook('post-commit', 'exit 1');
  await repo.put('a', '2');
  expect(await commit({ message: 'x', paths: ['a'] }, repo.context())).toMatchObject({
    status: 'success',
    output: expect.stringMatching(/:\nM a\nGit and its hooks said:\nchecked\n$/),
  });
});

test('a hook that removes the trailer is told of', async () => {
  const repo = await GitRepo.make(bench);
  await repo.hook('commit-msg', 'echo only this > "$1"');
  await repo.put('a', '2');
  expect(await commit({ message: 'x', paths: ['a'] }, repo.context())).toMatchObject({
    status: 'success',
    output: expect.stringMatching(/: only this\n[^]*a hook has removed the trailer/),
  });
});

test('signing without a terminal fails at once instead of waiting for a passphrase', async () => {
  const repo = await GitRepo.make(bench);
  repo.git('config', 'commit.gpgSign', 'true');
  repo.git('config', 'gpg.program', `${repo.root}/.git/hooks/gpg`);
  await repo.hook(
    'gpg',
    'echo "display <$DISPLAY> tty <$GPG_TTY>" > .git/asked; read -r x < /dev/tty; exit 2',
  );
  vi.stubEnv('DISPLAY', ':0');
  vi.stubEnv('GPG_TTY', '/dev/pts/0');
  await repo.put('a', '2');
  expect(await refused(repo, { message: 'x', paths: ['a'] })).toContain('gpg failed to sign the data');
  expect(await bench.read('repo/.git/asked')).toBe('display <> tty <>\n');
});

test('an interrupt ends a hook and all that it started, and nothing is committed', async () => {
  const repo = await GitRepo.make(bench);
  const started = bench.fifo('started');
  await repo.hook('pre-commit', `echo go > ${bench.path('started')}; sleep 600 & sleep 600`);
  await repo.put('a', '2');
  await repo.put('new', '2');
  const before = repo.status;
  const interrupt = new AbortController();
  const context = repo.context({ signal: interrupt.signal });
  const running = commit({ message: 'x', paths: ['a', 'new'] }, context);
  await started.wait();
  interrupt.abort();
  expect(await running).toMatchObject({
    status: 'cancelled',
    output: expect.stringMatching(/^\[interrupted after .*\]\nNothing was committed: HEAD is still/),
  });
  expect(bench.living()).toEqual([]);
  expect(repo.status).toEqual(before);
});
