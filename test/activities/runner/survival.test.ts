import { existsSync } from 'node:fs';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RunnerLost } from '../../../src/activities/runner/wait.ts';
import { CommandProofs } from '../../../src/activities/runner/proofs.ts';
import { bash } from '../../../src/activities/tools/bash.ts';
import { ForkedWorker } from './fork.ts';
import { Bench, killIfThere, runnerPid } from './support.ts';

let bench: Bench;

beforeEach(async () => {
  bench = await Bench.make();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await bench[Symbol.asyncDispose]();
});

/** A command that says when it has begun and waits to be let go. */
const HELD = 'echo start >> f; echo one; echo > started; read go < hold; echo done >> f; echo two; exit 3';

/** Begins `command` in a worker that is then killed with SIGKILL. */
async function leaveBehind(command: string, more: object = {}) {
  const [started, hold] = [bench.fifo('started'), bench.fifo('hold')];
  const args = { command, ...more };
  const context = bench.context();
  using worker = new ForkedWorker(bench, context.operation.operation_id, args);
  await started.wait();
  await worker.kill();
  return { args, context, hold };
}

test('a command survives the SIGKILL of the worker that started it, and its real result arrives once', async () => {
  const { args, context, hold } = await leaveBehind(HELD);

  const found = await bash.reconcile(args, context);
  expect(found).toMatchObject({
    status: 'running',
    evidence: expect.stringMatching(/still running: started at 20/),
  });

  const attached = bash.attach?.(args, context);
  await hold.release();
  const outcome = await attached;
  expect(outcome).toMatchObject({ status: 'failed', exit_code: 3 });
  expect(outcome?.output).toMatch(/^\[exit code 3, ran [\d.]+ s\]\n\none\ntwo\n$/);
  expect(await bench.read('f')).toBe('start\ndone\n');
  expect(await bash.reconcile(args, context)).toMatchObject({ status: 'completed', outcome });
});

test('a command that ended while no worker lived is completed with its real result', async () => {
  const { args, context, hold } = await leaveBehind(HELD);
  await hold.release();
  await bash.attach?.(args, context);

  const found = await bash.reconcile(args, context);
  expect(found).toMatchObject({ status: 'completed', outcome: { status: 'failed', exit_code: 3 } });
  expect(found.evidence).toMatch(/started at \S+Z by runner process \d+ and ended at \S+Z with exit code 3/);
});

test('a result reads the same whether it was recovered or not', async () => {
  const args = { command: 'echo out; echo err >&2; exit 7' };
  const context = bench.context();
  const outcome = await bash.run(args, context);
  expect(await bash.reconcile(args, context)).toMatchObject({ status: 'completed', outcome });
});

test('a killed runner leaves an unknown end, told with the output so far and what still runs', async () => {
  const { args, context } = await leaveBehind(HELD);
  const attached = bash.attach?.(args, context);
  killIfThere(await runnerPid(context));

  await expect(attached).rejects.toBeInstanceOf(RunnerLost);
  const found = await bash.reconcile(args, context);
  expect(found.status).toBe('unknown');
  expect(found.evidence).toMatch(
    /started at \S+Z by runner process \d+\. That process is gone and left no record/,
  );
  expect(found.evidence).toMatch(/still run now: \d+ \(bash\)/);
  expect(found.evidence).toMatch(/output so far \(4 bytes\):\none\n/);
});

test('a worker whose own runner is killed does not guess the end', async () => {
  const command = 'kill -KILL 0';
  await expect(bash.run({ command }, bench.context())).rejects.toBeInstanceOf(RunnerLost);
});

test('a gate that was closed first keeps the runner from running the command', async () => {
  const context = bench.context();
  expect(await bash.reconcile({}, context)).toMatchObject({ status: 'not_run' });
  await expect(bash.run({ command: 'touch ran' }, context)).rejects.toMatchObject({ name: 'Fenced' });
  await expect(bench.read('ran')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('of a runner and a reconciler exactly one gets the gate', async () => {
  for (let delay_ms = 0; delay_ms < 12; delay_ms += 0.5) {
    const context = bench.context();
    const run = bash.run({ command: `touch ${context.operation.operation_id}` }, context);
    const settled = run.then(
      () => 'ran',
      (error: Error) => error.name,
    );
    await new Promise((resolve) => setTimeout(resolve, delay_ms));
    const found = await bash.reconcile({}, context);
    const ran = (await settled) === 'ran';
    expect(found.status === 'not_run').toBe(!ran);
    expect(existsSync(bench.path(context.operation.operation_id))).toBe(ran);
  }
});

test('a worker that slept between intent and start comes too late to run the command', async () => {
  const args = { command: 'touch ran' };
  const context = bench.context();
  using worker = new ForkedWorker(bench, context.operation.operation_id, args, 'stop-after-intent');
  expect(await worker.message()).toEqual({ stopping: true });

  expect(await bash.reconcile(args, context)).toMatchObject({ status: 'not_run' });
  const late = worker.message();
  worker.wakeUp();
  expect(await late).toEqual({ error: 'Fenced' });
  await expect(bench.read('ran')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('an intent without a start is unknown after a reboot, since the record of a start may be lost', async () => {
  const context = bench.context();
  await context.operation.recordIntent('bash', 1, { command: 'true', cwd: bench.root, timeout_ms: 1 });
  vi.stubEnv('HOLDFAST_BOOT_ID', 'another boot');
  const found = await bash.reconcile({}, context);
  expect(found).toMatchObject({
    status: 'unknown',
    evidence: expect.stringMatching(/machine has been restarted/),
  });
  // And it stays so when the question is asked again.
  expect(await bash.reconcile({}, context)).toEqual(found);
});

test('an intent of an earlier attempt says nothing about this one', async () => {
  const context = bench.context();
  await context.operation.recordIntent('bash', 1, { command: 'true', cwd: bench.root, timeout_ms: 1 });
  vi.stubEnv('HOLDFAST_BOOT_ID', 'another boot');
  expect(await bash.reconcile({}, { ...context, attempt: 2 })).toMatchObject({ status: 'not_run' });
});

test('an interrupt of a command whose runner is gone still ends what is left of it', async () => {
  const { args, context } = await leaveBehind(HELD);
  const runner = await runnerPid(context);
  killIfThere(runner);
  await expect.poll(() => bench.living(), { interval: 5 }).not.toContain(runner);
  const interrupted = { ...context, signal: AbortSignal.abort() };
  await expect(bash.attach?.(args, interrupted)).rejects.toBeInstanceOf(RunnerLost);
  expect(bench.living()).toEqual([]);
});

test('after a reboot a living process with the same pid and start is not taken for the runner', async () => {
  const { args, context } = await leaveBehind(HELD);
  const pid = await runnerPid(context);
  vi.stubEnv('HOLDFAST_BOOT_ID', 'another boot');

  const found = await bash.reconcile(args, context);
  expect(found).toMatchObject({
    status: 'unknown',
    evidence: expect.stringMatching(/has been restarted since/),
  });
  await expect(bash.attach?.(args, { ...context, signal: AbortSignal.abort() })).rejects.toBeInstanceOf(
    RunnerLost,
  );
  expect(bench.living()).toContain(pid);
});

test('an end that was recorded before a reboot is the real result, with a word on what may be missing', async () => {
  const args = { command: 'echo out' };
  const context = bench.context();
  await bash.run(args, context);
  vi.stubEnv('HOLDFAST_BOOT_ID', 'another boot');
  const found = await bash.reconcile(args, context);
  expect(found).toMatchObject({ status: 'completed', outcome: { status: 'success', exit_code: 0 } });
  expect(found.status === 'completed' && found.outcome.output).toMatch(
    /restarted after this.*may be missing/,
  );
});

/** Of an age at which nobody is still writing it. */
async function emptyGate(path: string): Promise<void> {
  await writeFile(path, '');
  await utimes(path, 0, 0);
}

test('a start record that is being written is waited for', async () => {
  const { args, context } = await leaveBehind(HELD);
  const gate = context.operation.gatePath(1);
  const text = await readFile(gate, 'utf8');
  await writeFile(gate, '');
  const found = bash.reconcile(args, context);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await writeFile(gate, text);
  expect(await found).toMatchObject({ status: 'running' });
});

test('a start record that is empty is neither a start nor none', async () => {
  const context = bench.context();
  await context.operation.recordIntent('bash', 1, { command: 'true', cwd: bench.root, timeout_ms: 1 });

  await emptyGate(context.operation.gatePath(1));
  const found = await bash.reconcile({}, context);
  expect(found).toMatchObject({ status: 'unknown', evidence: expect.stringMatching(/not complete.*gate-1/) });
});

test('an empty gate of an attempt without an intent was not made by a runner', async () => {
  const context = bench.context();
  await context.operation.recordIntent('bash', 1, { command: 'true', cwd: bench.root, timeout_ms: 1 });
  await emptyGate(context.operation.gatePath(2));
  expect(await bash.reconcile({}, { ...context, attempt: 2 })).toMatchObject({ status: 'not_run' });
});

test('an exit record that is cut off is not taken for an end', async () => {
  const { args, context } = await leaveBehind(HELD);

  await writeFile(new CommandProofs(context.operation, 1).exitPath, 'exited 0\nuptime 1');
  expect(await bash.reconcile(args, context)).toMatchObject({ status: 'running' });
});

test('a damaged intent is named, and nothing is claimed', async () => {
  const context = bench.context();
  await bash.run({ command: 'true' }, context);

  await writeFile(context.operation.path('intent.json'), '{"oper');
  const found = await bash.reconcile({}, context);
  expect(found).toMatchObject({ status: 'unknown', evidence: expect.stringMatching(/intent\.json/) });
});

test("a worker's shutdown leaves the command alone for the next worker", async () => {
  const [started, hold] = [bench.fifo('started'), bench.fifo('hold')];
  const args = { command: HELD };
  const context = bench.context();
  const shutdown = new AbortController();
  const reason = Object.assign(new Error('The worker shuts down.'), { name: 'WorkerShutdown' });

  const first = bash.run(args, { ...context, signal: shutdown.signal });
  await started.wait();
  shutdown.abort(reason);
  await expect(first).rejects.toBe(reason);

  const next = bash.attach?.(args, context);
  await hold.release();
  expect(await next).toMatchObject({ status: 'failed', exit_code: 3 });
  expect(await bench.read('f')).toBe('start\ndone\n');
});
