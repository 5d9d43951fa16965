import { afterEach, beforeEach, expect, test } from 'vitest';
import { WorkerShutdown } from '../../../src/activities/heartbeat.ts';
import { CommandProofs } from '../../../src/activities/runner/proofs.ts';
import type { Gate } from '../../../src/activities/runner/proofs.ts';
import { startRunner } from '../../../src/activities/runner/start.ts';
import { waitForEnd } from '../../../src/activities/runner/wait.ts';
import { bash } from '../../../src/activities/tools/bash.ts';
import { Bench } from './support.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.make();
});
afterEach(async () => bench[Symbol.asyncDispose]());

/** Proofs during whose reading something happens. */
class WatchedProofs extends CommandProofs {
  onLook = (): void => {};

  override async readGate(): Promise<Gate> {
    const gate = await super.readGate();
    this.onLook();
    return gate;
  }
}

test('a worker that begins to shut down while it looks at a command lets go of it and sends no signal', async () => {
  const context = bench.context();
  const [started, hold] = [bench.fifo('started'), bench.fifo('hold')];
  const command = 'echo > started; read go < hold; echo done';
  const plan = { command, cwd: context.workspace, timeout_ms: 60_000 };
  await context.operation.recordIntent('bash', 1, plan);
  const proofs = new WatchedProofs(context.operation, 1);
  const child = await startRunner(proofs, plan, context.env);
  await started.wait();

  const controller = new AbortController();
  proofs.onLook = () => controller.abort(new WorkerShutdown('WORKER_SHUTDOWN'));
  await expect(waitForEnd(proofs, { timeout_ms: 60_000, signal: controller.signal, child })).rejects.toThrow(
    WorkerShutdown,
  );
  expect(await proofs.readStop()).toBeUndefined();

  const attached = bash.attach?.({ command }, context);
  await hold.release();
  expect(await attached).toMatchObject({ status: 'success', exit_code: 0 });
});
