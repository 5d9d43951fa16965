/** One strike, really delivered: to processes that lived, or by a fault that was reached. */
import { readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readStatus } from '../../src/server/installation.ts';
import type { Stage } from '../stage.ts';
import type { How, Strike, Target } from './plan.ts';
import { listRunners } from './runners.ts';

/** A strike that hit. */
export interface Hit {
  number: number;
  target: Target;
  how: How;
  point: string | undefined;
  /** ISO 8601. */
  at: string;
  pids: number[];
  /** Of a runner that was struck. */
  operation_id: string | undefined;
}

type Part = 'worker' | 'server' | 'supervisor';

const PARTS: Record<Exclude<Target, 'runner'>, Part[]> = {
  worker: ['worker'],
  server: ['server'],
  supervisor: ['supervisor'],
  'worker and server': ['worker', 'server'],
  everything: ['supervisor', 'server', 'worker'],
};

const LOOK_EVERY_MS = 10;
/** How long a victim is waited for, and a point to be reached. */
const PATIENCE_MS = 6_000;
/** Continue-as-new is rarer than a tool call. */
const ARCHIVE_PATIENCE_MS = 12_000;

/** Resolves with what was hit, or with undefined when nothing of the kind lived or the point was not reached. */
export async function strikeOnce(stage: Stage, strike: Strike, stop: AbortSignal): Promise<Hit | undefined> {
  const hit = await aim(stage, strike, stop);
  if (hit !== undefined && strike.how === 'freeze') await thawLater(hit.pids, strike.freeze_ms);
  return hit;
}

async function aim(stage: Stage, strike: Strike, stop: AbortSignal): Promise<Hit | undefined> {
  if (strike.point !== undefined) return strikeAtPoint(stage, strike, strike.point, stop);
  if (strike.target === 'runner') return strikeRunner(stage, strike, stop);
  const parts = PARTS[strike.target];
  const pids = await until(PATIENCE_MS, stop, async () => {
    const status = await readStatus(stage.home).catch(() => undefined);
    const found = parts.map((part) => status?.[part]?.pid);
    return found.every((pid) => pid !== undefined) ? found : undefined;
  });
  return pids && send(strike, pids);
}

async function strikeRunner(stage: Stage, strike: Strike, stop: AbortSignal): Promise<Hit | undefined> {
  const runner = await until(PATIENCE_MS, stop, async () => {
    const runners = await listRunners(stage.home.journal);
    return runners[Math.floor(strike.choice * runners.length)];
  });
  return runner && send(strike, [runner.pid], runner.operation_id);
}

/** The file is the fault; when it is gone, the process that removed it has struck itself. */
async function strikeAtPoint(
  stage: Stage,
  strike: Strike,
  point: string,
  stop: AbortSignal,
): Promise<Hit | undefined> {
  const path = join(stage.faults, point);
  await writeFile(`${path}.new`, signalOf(strike));
  await rename(`${path}.new`, path);
  let pid: number | undefined;
  const patience = point === 'after_archive' ? ARCHIVE_PATIENCE_MS : PATIENCE_MS;
  await until(patience, stop, async () => {
    pid = (await readStatus(stage.home).catch(() => undefined))?.worker?.pid ?? pid;
    return (await isThere(path)) ? undefined : true;
  });
  const reached = await unlink(path).then(
    () => false,
    () => true,
  );
  return reached ? hitOf(strike, pid === undefined ? [] : [pid]) : undefined;
}

function send(strike: Strike, pids: number[], operation_id?: string): Hit | undefined {
  // The hit's time comes before the blow, so that what is seen after it is after it.
  const hit = hitOf(strike, pids, operation_id);
  try {
    for (const pid of pids) process.kill(pid, signalOf(strike));
  } catch {
    return undefined; // it has just gone by itself
  }
  return hit;
}

function hitOf({ number, target, how, point }: Strike, pids: number[], operation_id?: string): Hit {
  return { number, target, how, point, at: new Date().toISOString(), pids, operation_id };
}

function signalOf({ how }: Strike): 'SIGKILL' | 'SIGSTOP' {
  return how === 'kill' ? 'SIGKILL' : 'SIGSTOP';
}

async function thawLater(pids: number[], freeze_ms: number): Promise<void> {
  await delay(freeze_ms);
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It was killed meanwhile.
    }
  }
}

async function isThere(path: string): Promise<boolean> {
  return readFile(path).then(
    () => true,
    () => false,
  );
}

async function until<T>(
  patience_ms: number,
  stop: AbortSignal,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const give_up = performance.now() + patience_ms;
  while (performance.now() < give_up && !stop.aborted) {
    const found = await look();
    if (found !== undefined) return found;
    await delay(LOOK_EVERY_MS);
  }
  return undefined;
}
