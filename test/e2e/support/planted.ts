/** Planted faults, and what is told of a call, in a form that two runs share. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionEvent } from '../../../src/domain/event.ts';
import type { FaultPoint } from '../../../src/host/faults.ts';
import { until, type World } from '../../support/world.ts';

/** The first process that reaches `point` is struck; to be called before `world.up` once. */
export async function plant(
  world: World,
  point: FaultPoint,
  signal: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL',
): Promise<void> {
  const folder = world.beside('faults');
  world.env['HOLDFAST_FAULTS'] = folder;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, point), signal);
}

/** The events about calls, one line each: `tool_recovery not_run: …`. */
export function storyOf(events: SessionEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === 'tool_call') return ['tool_call'];
    if (event.type === 'tool_recovery')
      return [`tool_recovery ${event.status}: ${withoutNumbers(event.evidence)}`];
    if (event.type !== 'tool_result') return [];
    const recovered = event.recovered === true ? ' recovered' : '';
    return [`tool_result ${event.status}${recovered}: ${withoutNumbers(event.output)}`];
  });
}

/** Times, durations, pids and hashes by their names. */
export function withoutNumbers(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b\d+(\.\d+)? s\b/g, 'SECONDS')
    .replaceAll(/process \d+/g, 'process PID')
    .replaceAll(/\b[0-9a-f]{64}\b/g, 'HASH');
}

export async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

/** The pid of the runner of a session's first command (or of run `run`'s), as soon as the command has begun. */
export async function runnerOf(world: World, id: string, run = 1): Promise<number> {
  const gate = join(world.home.journal, id, `${id}.r${run}.s1.1`, 'gate-1');
  const pid = await until(async () => /\npid (\d+)\n[^]*\nend\n$/.exec((await readIfThere(gate)) ?? '')?.[1]);
  await until(async () => (await readIfThere(join(world.workspace, 'log')))?.startsWith('start'));
  return Number(pid);
}
