/** Start-up times and memory of the processes. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readLivingWorker } from '../src/host/workerFile.ts';
import { readStatus } from '../src/server/installation.ts';
import { DIST, setStage } from './stage.ts';
import type { Stage } from './stage.ts';
import { spread } from './statistics.ts';
import type { Row } from './statistics.ts';

const run = promisify(execFile);

/** From the start of the process to `ready`: connected, polling, and done with what a dead worker left. */
export async function measureWorkerBoot(): Promise<Row[]> {
  await using stage = await setStage({ withWorker: false });
  const samples: number[] = [];
  for (let index = 0; index < 7; index += 1) {
    const start = performance.now();
    const worker = spawn(process.execPath, [join(DIST, 'worker/main.js')], {
      env: { ...process.env, HOLDFAST_HOME: stage.home.root, TEMPORAL_ADDRESS: stage.address },
      stdio: 'ignore',
    });
    while ((await readLivingWorker(stage.home))?.state !== 'ready') await delay(5);
    samples.push(performance.now() - start);
    worker.kill('SIGTERM');
    await once(worker, 'exit');
  }
  return spread('worker boot', 'ms', samples, 1_000);
}

/** A command as a user waits for it, with everything up. */
export async function measureCommand(stage: Stage, ...args: string[]): Promise<Row[]> {
  const samples: number[] = [];
  for (let index = 0; index < 12; index += 1) {
    const start = performance.now();
    await run(process.execPath, [join(DIST, 'cli/main.js'), ...args], {
      env: { ...process.env, HOLDFAST_HOME: stage.home.root },
    });
    samples.push(performance.now() - start);
  }
  return spread(`holdfast ${args.join(' ')}`, 'ms', samples.slice(2), 400);
}

/** Resident memory now. */
export async function measureMemory(stage: Stage): Promise<Row[]> {
  const parts = ['worker', 'server', 'supervisor'] as const;
  return Promise.all(
    parts.map(async (part) => ({ what: `resident memory, ${part}`, ...(await residentMemory(stage, part)) })),
  );
}

/** Of one part, now. */
export async function residentMemory(
  stage: Stage,
  part: 'worker' | 'server' | 'supervisor',
): Promise<Pick<Row, 'value' | 'unit' | 'samples'>> {
  const found = (await readStatus(stage.home))[part];
  return { value: found === null ? Number.NaN : await residentMib(found.pid), unit: 'MiB', samples: 1 };
}

async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}
