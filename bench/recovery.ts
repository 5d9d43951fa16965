/** What ends a command in its middle: the kill of its worker, and an interrupt. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { interrupt, waitIdle } from '../src/client/index.ts';
import { readLivingWorker } from '../src/host/workerFile.ts';
import { readStatus } from '../src/server/installation.ts';
import { LONG_COMMAND, RUNNING_FILE } from './stage.ts';
import type { Stage } from './stage.ts';
import { spread } from './statistics.ts';
import type { Row } from './statistics.ts';

const KILLS = 20;
const INTERRUPTS = 10;

/** The command ends while no worker lives, so that the time is the recovery's own. */
export async function measureRecovery(stage: Stage): Promise<Row[]> {
  const afterKill: number[] = [];
  const afterReady: number[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { killed, ready, asked } = await loseWorker(stage);
    afterKill.push(asked - killed);
    afterReady.push(Math.max(0, asked - ready));
  }
  return [
    ...spread('worker killed to the next model request', 'ms', afterKill, 3_000),
    ...spread('new worker ready to the next model request', 'ms', afterReady, 500),
  ];
}

/** From the signal to the end of the run, with a shell and its `sleep 600` as what has to be ended. */
export async function measureInterrupt(stage: Stage): Promise<Row[]> {
  const samples: number[] = [];
  for (let count = 0; count < INTERRUPTS; count += 1) {
    const running = join(stage.workspace, RUNNING_FILE);
    await rm(running, { force: true });
    const session_id = await stage.startCommand(LONG_COMMAND);
    await until(async () => readFile(running).catch(() => undefined));
    const start = performance.now();
    await interrupt(stage.service, session_id, 'bench');
    await waitIdle(stage.service, session_id, { signal: new AbortController().signal });
    samples.push(performance.now() - start);
  }
  return spread('an interrupt of `sleep 600` to the end of its run', 'ms', samples, 3_000);
}

async function loseWorker(stage: Stage): Promise<{ killed: number; ready: number; asked: number }> {
  const running = join(stage.workspace, RUNNING_FILE);
  await rm(running, { force: true });
  stage.model.requests.length = 0;
  const session_id = await stage.startCommand();
  await until(async () => readFile(running).catch(() => undefined));
  const { worker } = await readStatus(stage.home);
  if (worker === null) throw new Error('Expected a running worker, found none.');
  process.kill(worker.pid, 'SIGKILL');
  const killed = Date.now();
  await until(async () => {
    const now = await readLivingWorker(stage.home);
    return now?.state === 'ready' && now.pid !== worker.pid ? now : undefined;
  });
  const ready = Date.now();
  const request = await until(async () => stage.model.requests[1]);
  await waitIdle(stage.service, session_id, { signal: new AbortController().signal });
  return { killed, ready, asked: Date.parse(request.at) };
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await delay(2);
  }
}
