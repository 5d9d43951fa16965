import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandOutcome } from '../../../src/activities/runner/outcome.ts';
import { CommandProofs } from '../../../src/activities/runner/proofs.ts';
import { startRunner } from '../../../src/activities/runner/start.ts';
import { waitForEnd } from '../../../src/activities/runner/wait.ts';
import { bash } from '../../../src/activities/tools/bash.ts';
import { ForkedWorker } from './fork.ts';
import { Bench } from './support.ts';

let bench: Bench;

beforeEach(async () => {
  bench = await Bench.make();
});

afterEach(async () => {
  await bench[Symbol.asyncDispose]();
});

/** Runs a command that has `$READY` where it says that it has begun, and interrupts it there. */
async function interrupt(command: string) {
  const started = bench.fifo('started');
  const context = bench.context();
  const controller = new AbortController();
  const args = { command: command.replace('$READY', 'echo > started') };
  const run = bash.run(args, { ...context, signal: controller.signal });
  await started.wait();
  const begun = performance.now();
  controller.abort(new Error('The run was interrupted.'));
  const outcome = await run;
  return { args, context, outcome, took_ms: performance.now() - begun };
}

test('a time-out ends the command with all its grandchildren and gives the output until then', async () => {
  const command = 'echo begun; (sleep 600 & sleep 600) & setsid sleep 600 & sleep 600';
  const outcome = await bash.run({ command, timeout_ms: 300 }, bench.context());
  expect(outcome).toMatchObject({ status: 'failed', exit_code: 143 });
  expect(outcome.output).toMatch(
    /^\[timed out after 3\d\d ms, limit 300 ms; sent TERM, ended with exit code 143/,
  );
  expect(outcome.output).toMatch(/\n\nbegun\n$/);
  expect(bench.living()).toEqual([]);
});

test('an interrupt ends the command with all its grandchildren, also those that left its group', async () => {
  const { args, context, outcome } = await interrupt(
    'echo begun; (sleep 600 & exec sleep 600) & setsid sleep 600 & setsid sh -c "sleep 600 & sleep 600" & $READY; sleep 600',
  );
  expect(outcome).toMatchObject({ status: 'cancelled', exit_code: 143 });
  expect(outcome.output).toMatch(
    /^\[interrupted after [\d.]+ s, it may have done a part of its work; sent TERM/,
  );
  expect(outcome.output).toMatch(/\n\[command: echo begun; .*\]\n\nbegun\n$/);
  expect(bench.living()).toEqual([]);
  expect(await bash.reconcile(args, context)).toMatchObject({ status: 'completed', outcome });
});

test('a command that ignores TERM is killed within three seconds of an interrupt', async () => {
  const { args, context, outcome, took_ms } = await interrupt(
    'trap "" TERM; setsid sleep 600 & sleep 600 & $READY; sleep 600',
  );
  expect(outcome.status).toBe('cancelled');
  expect(outcome.output).toMatch(/stopped by TERM or, after 2\.00 s, KILL; it left no exit code\]/);
  expect(took_ms).toBeLessThan(3_000);
  expect(bench.living()).toEqual([]);
  expect(await bash.reconcile(args, context)).toMatchObject({ status: 'completed', outcome });
});

test('a command has two seconds to tidy up after an interrupt, and its exit code is kept', async () => {
  const { outcome } = await interrupt(
    'trap "echo tidy > tidied; exit 5" TERM; $READY; while :; do sleep 0.05; done',
  );
  expect(outcome).toMatchObject({ status: 'cancelled', exit_code: 5 });
  expect(await bench.read('tidied')).toBe('tidy\n');
});

test('an interrupt does not touch what an earlier call left in the background on purpose', async () => {
  const earlier = bench.context();
  await bash.run({ command: 'sleep 600 & setsid sleep 600 &' }, earlier);
  const left = bench.living(earlier.operation.operation_id);
  const { context } = await interrupt('$READY; sleep 600');

  expect(left).toHaveLength(2);
  expect(bench.living(earlier.operation.operation_id)).toEqual(left);
  expect(bench.living(context.operation.operation_id)).toEqual([]);
});

test('a run that was interrupted before its command says that it was not started', async () => {
  const outcome = await bash.run(
    { command: 'touch ran' },
    { ...bench.context(), signal: AbortSignal.abort() },
  );
  expect(outcome).toMatchObject({ status: 'cancelled', output: expect.stringMatching(/was not started/) });
  await expect(bench.read('ran')).rejects.toMatchObject({ code: 'ENOENT' });
});

test('an interrupt in the moment of the start either ends the command or keeps it from starting', async () => {
  for (const delay_ms of [0, 1, 2, 3, 4, 6, 8]) {
    const context = bench.context();
    const signal = AbortSignal.timeout(delay_ms);
    const outcome = await bash.run({ command: 'sleep 600' }, { ...context, signal });
    expect(outcome.status).toBe('cancelled');
    // A runner that found its gate closed may be about to leave.
    await expect.poll(() => bench.living(context.operation.operation_id), { interval: 5 }).toEqual([]);
  }
});

test('time runs from the start of the runner, also for a worker that comes later', async () => {
  const started = bench.fifo('started');
  const context = bench.context();
  const args = { command: 'echo > started; sleep 600', timeout_ms: 700 };
  using worker = new ForkedWorker(bench, context.operation.operation_id, args);
  await started.wait();
  await worker.kill();
  const outcome = await bash.attach?.(args, context);
  const after_ms = Number(/timed out after (\d+) ms/.exec(outcome?.output ?? '')?.[1]);
  expect(after_ms).toBeGreaterThanOrEqual(700);
  expect(after_ms).toBeLessThan(1_400);
  expect(bench.living()).toEqual([]);
});

test('a stop that a worker began and did not live to finish is finished by the next', async () => {
  const [started, context] = [bench.fifo('started'), bench.context()];
  const args = { command: 'echo > started; sleep 600' };
  using worker = new ForkedWorker(bench, context.operation.operation_id, args);
  await started.wait();
  await new CommandProofs(context.operation, 1).writeStop('interrupt', 40);
  await worker.kill();

  const found = await bash.reconcile(args, context);
  expect(found).toMatchObject({
    status: 'running',
    evidence: expect.stringMatching(/being stopped \(interrupt\)/),
  });
  expect(await bash.attach?.(args, context)).toMatchObject({ status: 'cancelled', exit_code: 143 });
  expect(bench.living()).toEqual([]);
});

test('a command that floods the disk is stopped', async () => {
  const context = bench.context();
  const proofs = new CommandProofs(context.operation, 1);
  const plan = { command: 'while :; do echo yes; done', cwd: bench.root, timeout_ms: 60_000 };
  await context.operation.recordIntent('bash', 1, plan);
  const child = await startRunner(proofs, plan, context.env);
  const ended = await waitForEnd(proofs, { ...plan, signal: context.signal, child, output_max_bytes: 1_000 });
  const outcome = await commandOutcome(proofs, plan, ended, context);
  expect(outcome).toMatchObject({
    status: 'failed',
    output: expect.stringMatching(/^\[stopped after .* it wrote more than/),
  });
  expect(bench.living()).toEqual([]);
});
