/** The truth table of git_commit: each row, and each moment at which a worker is killed. */
import { execFileSync } from 'node:child_process';
import { rm, utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RunnerLost } from '../../../src/activities/runner/wait.ts';
import { gitCommit } from '../../../src/activities/tools/gitCommit.ts';
import type { ToolContext } from '../../../src/activities/tools/tool.ts';
import { Bench, killIfThere, runnerPid } from '../runner/support.ts';
import { CallProcess, killedAt } from './callProcess.ts';
import { GitRepo } from './gitRepo.ts';

const ARGS = { message: 'Change a', paths: ['a', 'new'] };

let bench: Bench;
let repo: GitRepo;
let before: string;
let operation_id: string;
let context: ToolContext;

beforeEach(async () => {
  bench = await Bench.make();
  repo = await GitRepo.make(bench);
  await repo.put('a', '2\n');
  await repo.put('new', '2\n');
  before = repo.head;
  operation_id = bench.newOperation();
  context = repo.context({}, operation_id);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await bench[Symbol.asyncDispose]();
});

function call(args: object = ARGS) {
  return { operation_id, tool: 'git_commit', args, changes: { workspace: repo.root } };
}

/** What an undisturbed call says of the commit that HEAD is at now. */
function committed(): string {
  return `Committed ${repo.head} on branch main: Change a\nParent: ${before}.\n2 files changed, 2 insertions(+), 1 deletion(-):\nM a\nA new`;
}

async function ranToItsEnd(): Promise<void> {
  await expect
    .poll(async () => (await gitCommit.reconcile(ARGS, context)).status, { interval: 20, timeout: 30_000 })
    .not.toBe('running');
}

/** A commit whose hook holds it, and whose worker is dead. */
async function leaveBehind(): Promise<{ release: () => Promise<void> }> {
  const [held, hold] = [bench.fifo('held'), bench.fifo('hold')];
  await repo.hook(
    'pre-commit',
    `echo checking; echo go > ${bench.path('held')}; read -r _ < ${bench.path('hold')}`,
  );
  using worker = await CallProcess.start(bench, call());
  await held.wait();
  worker.kill('SIGKILL');
  await worker.ended();
  return hold;
}

test.each(['before_intent', 'after_intent'] as const)(
  'a worker that was killed %s has committed nothing, and the commit is made by the next attempt',
  async (at) => {
    await killedAt(bench, at, call());
    expect(await gitCommit.reconcile(ARGS, context)).toEqual({
      status: 'not_run',
      evidence: expect.stringMatching(/was not run: no process had begun it, and its gate is closed/),
    });
    const outcome = await gitCommit.run(ARGS, { ...context, attempt: 2 });
    expect(outcome).toEqual({ status: 'success', output: committed() });
    expect(repo.operations).toEqual([operation_id]);
  },
);

test.each(['after_spawn', 'before_report'] as const)(
  'a worker that was killed %s: the commit is there once, and the result is that of an undisturbed call',
  async (at) => {
    await killedAt(bench, at, call());
    await ranToItsEnd();
    expect(await gitCommit.reconcile(ARGS, context)).toEqual({
      status: 'completed',
      evidence: expect.stringMatching(
        /^The command was started at .* and ended at .* with exit code 0\. This is its real result\.$/,
      ),
      outcome: { status: 'success', output: committed() },
    });
    expect(repo.operations).toEqual([operation_id]);
    expect(repo.status).toEqual([]);
  },
);

test('a long hook outlives the worker: the commit is attached and its real result arrives', async () => {
  const hold = await leaveBehind();
  expect(await gitCommit.reconcile(ARGS, context)).toEqual({
    status: 'running',
    evidence: expect.stringMatching(/still running: started at .*Output so far: 9 bytes\.$/),
  });
  const attached = gitCommit.attach?.(ARGS, context);
  await hold.release();
  expect(await attached).toEqual({
    status: 'success',
    output: expect.stringMatching(/^Committed [^]*\nGit and its hooks said:\nchecking\n$/),
  });
  expect(repo.operations).toEqual([operation_id]);
});

test('an interrupt of what a dead runner left ends it, and nothing is committed', async () => {
  await leaveBehind();
  killIfThere(await runnerPid(context));
  await expect
    .poll(async () => (await gitCommit.reconcile(ARGS, context)).evidence, { interval: 10, timeout: 30_000 })
    .toMatch(/That process is gone/);
  const interrupted = { ...context, signal: AbortSignal.abort() };
  await expect(gitCommit.attach?.(ARGS, interrupted)).rejects.toBeInstanceOf(RunnerLost);
  expect(bench.living()).toEqual([]);
  expect(await gitCommit.reconcile(ARGS, context)).toMatchObject({ status: 'not_run' });
});

test('an interrupt of an attached commit ends its hook, and nothing is committed', async () => {
  await leaveBehind();
  const outcome = await gitCommit.attach?.(ARGS, { ...context, signal: AbortSignal.abort() });
  expect(outcome).toMatchObject({
    status: 'cancelled',
    output: expect.stringMatching(/Nothing was committed/),
  });
  expect(bench.living()).toEqual([]);
  expect(repo.head).toBe(before);
});

test('a refusal by a hook is found out after the kill as well', async () => {
  await repo.hook('pre-commit', 'echo no; exit 1');
  await killedAt(bench, 'after_spawn', call());
  await ranToItsEnd();
  expect(await gitCommit.reconcile(ARGS, context)).toMatchObject({
    status: 'completed',
    outcome: {
      status: 'failed',
      exit_code: 1,
      output: expect.stringMatching(/Nothing was committed: HEAD is still [^]*\nno\n$/),
    },
  });
});

test('with its runner killed too, git goes on: it is waited for, and the trailer proves the commit', async () => {
  const hold = await leaveBehind();
  killIfThere(await runnerPid(context));
  await expect
    .poll(() => gitCommit.reconcile(ARGS, context), { interval: 10, timeout: 30_000 })
    .toEqual({
      status: 'running',
      evidence: expect.stringMatching(
        /That process is gone, but git or one of its hooks still runs and may commit: .*git/,
      ),
    });
  const attached = gitCommit.attach?.(ARGS, context);
  await hold.release();
  await expect(attached).rejects.toBeInstanceOf(RunnerLost);
  expect(await gitCommit.reconcile(ARGS, context)).toEqual({
    status: 'completed',
    evidence: `Commit ${repo.head} has the trailer of this operation: it was made.`,
    outcome: { status: 'success', output: `${committed()}\nGit and its hooks said:\nchecking\n` },
  });
});

/** Everything of the operation dies at once, as in a loss of power. */
async function killAll(): Promise<void> {
  for (const pid of bench.living(operation_id)) killIfThere(pid);
  await expect.poll(() => bench.living(operation_id), { interval: 5, timeout: 30_000 }).toEqual([]);
}

test('with all of it killed in a hook, HEAD says that nothing was committed, and the lock is named, not deleted', async () => {
  await leaveBehind();
  await killAll();
  const found = await gitCommit.reconcile(ARGS, context);
  expect(found).toEqual({
    status: 'not_run',
    evidence: expect.stringMatching(
      new RegExp(
        `^Nothing was committed: HEAD is ${before}, as it was before, no commit has the trailer .*nothing of it runs any more\\.\nThere is a lock, .*index\\.lock, since 20`,
      ),
    ),
  });
  // The next attempt does not take the lock away either: it says what is in the way.
  await rm(`${repo.root}/.git/hooks/pre-commit`);
  const blocked = await gitCommit.run(ARGS, { ...context, attempt: 2 });
  expect(blocked).toMatchObject({ status: 'failed', output: expect.stringMatching(/There is a lock/) });
  await rm(`${repo.root}/.git/index.lock`);
  expect(await gitCommit.run(ARGS, { ...context, attempt: 3 })).toMatchObject({ status: 'success' });
  expect(repo.operations).toEqual([operation_id]);
});

test('with all of it killed and HEAD moved by somebody else, it is unknown, with both shas', async () => {
  await leaveBehind();
  await killAll();
  await rm(`${repo.root}/.git/hooks/pre-commit`);
  await rm(`${repo.root}/.git/index.lock`);
  repo.git('commit', '--quiet', '--all', '--message', 'by hand');
  expect(await gitCommit.reconcile(ARGS, context)).toEqual({
    status: 'unknown',
    evidence: expect.stringMatching(
      new RegExp(
        `^Whether the commit was made is not known\\. It was about to be made at .* on branch main with HEAD ${before}\\. HEAD is ${repo.head} on branch main now, and no commit since then has the trailer .*somebody else has moved HEAD, or a hook has removed the trailer\\.\nCompare`,
      ),
    ),
  });
});

test('of what was staged the tree is known, and the evidence compares it', async () => {
  repo.git('add', '--all');
  const args = { message: 'x' };
  const [held] = [bench.fifo('held'), bench.fifo('hold')];
  await repo.hook('pre-commit', `echo > ${bench.path('held')}; read -r _ < ${bench.path('hold')}`);
  using worker = await CallProcess.start(bench, call(args));
  await held.wait();
  worker.kill('SIGKILL');
  await killAll();
  await rm(`${repo.root}/.git/index.lock`, { force: true });
  repo.git('commit', '--quiet', '--no-verify', '--message', 'by hand');
  const tree = repo.git('rev-parse', 'HEAD^{tree}');
  expect(await gitCommit.reconcile(args, context)).toMatchObject({
    status: 'unknown',
    evidence: expect.stringContaining(
      `The tree to be committed was ${tree}; that of HEAD is ${tree}, the same.`,
    ),
  });
});

test('a commit that was made, and then left behind by a reset or another branch, was made', async () => {
  await killedAt(bench, 'before_report', call());
  const made = repo.head;
  await writeFile(context.operation.path('ended/1'), ''); // its runner died before it wrote the end
  repo.git('reset', '--quiet', '--hard', before);
  repo.git('checkout', '--quiet', '-b', 'other');
  expect(await gitCommit.reconcile(ARGS, context)).toMatchObject({
    status: 'completed',
    evidence: `Commit ${made} has the trailer of this operation: it was made.`,
    outcome: {
      status: 'success',
      output: expect.stringMatching(
        new RegExp(`^Committed ${made} on branch main: [^]*\\[HEAD is ${before} now, another commit\\]`),
      ),
    },
  });
});

test('after a reboot the repository tells what the lost records do not', async () => {
  await killedAt(bench, 'before_report', call());
  await rm(context.operation.gatePath(1));
  vi.stubEnv('HOLDFAST_BOOT_ID', 'another boot');
  expect(await gitCommit.reconcile(ARGS, context)).toMatchObject({
    status: 'completed',
    outcome: { status: 'success', output: committed() },
  });
});

test('after a reboot an intent without a commit was not run', async () => {
  await killedAt(bench, 'after_intent', call());
  vi.stubEnv('HOLDFAST_BOOT_ID', 'another boot');
  expect(await gitCommit.reconcile(ARGS, context)).toMatchObject({
    status: 'not_run',
    evidence: expect.stringMatching(/^Nothing was committed: HEAD is/),
  });
});

test('a start record that is damaged is no matter: the repository is asked', async () => {
  await killedAt(bench, 'before_report', call());
  await writeFile(context.operation.gatePath(1), 'ente');
  await utimes(context.operation.gatePath(1), 0, 0);
  expect(await gitCommit.reconcile(ARGS, context)).toMatchObject({
    status: 'completed',
    evidence: expect.stringMatching(/has the trailer/),
  });
});

test('a repository that is gone makes it unknown, with the reason', async () => {
  await leaveBehind();
  await killAll();
  await rm(`${repo.root}/.git`, { recursive: true });
  expect(await gitCommit.reconcile(ARGS, context)).toMatchObject({
    status: 'unknown',
    evidence: expect.stringMatching(/repository at .* can't be asked any more\. .*not a git repository/),
  });
});

test('the trailer of another operation with a longer id is not taken for it', async () => {
  await leaveBehind();
  await killAll();
  await rm(`${repo.root}/.git/hooks/pre-commit`);
  await rm(`${repo.root}/.git/index.lock`);
  repo.git('commit', '--quiet', '--all', '--message', `x\n\nHoldfast-Operation: ${operation_id}0`);
  expect(await gitCommit.reconcile(ARGS, context)).toMatchObject({ status: 'unknown' });
});

test('a worker that was frozen before the start commits nothing once the call was settled', async () => {
  using worker = await CallProcess.start(bench, {
    ...call(),
    fault: { at: 'after_intent', signal: 'SIGSTOP' },
  });
  await worker.stopped();
  expect(await gitCommit.reconcile(ARGS, context)).toMatchObject({ status: 'not_run' });
  worker.kill('SIGCONT');
  expect(await worker.result()).toEqual({ error: 'Fenced' });
  expect(repo.head).toBe(before);
  expect(
    execFileSync('git', ['fsck'], { cwd: repo.root, stdio: ['ignore', 'pipe', 'ignore'] }).toString(),
  ).not.toMatch(/error/);
});
