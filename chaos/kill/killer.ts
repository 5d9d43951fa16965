/**
 * Strikes, one after the other, until enough have hit. It brings nothing back that a user would not: the
 * supervisor does that, and where the supervisor is dead or backs off, the next command does.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ensureUp, readRunning } from '../../src/server/installation.ts';
import type { Stage } from '../stage.ts';
import { strikeOnce, type Hit } from './blow.ts';
import { plannedStrikes, type Strike } from './plan.ts';

export interface KillerOptions {
  /** SIGKILLs to deliver; freezes are not counted. */
  kills: number;
  say: (line: string) => void;
  stop: AbortSignal;
}

export interface Killed {
  hits: Hit[];
  /** Strikes that found nobody, by what was looked for. */
  missed: Strike[];
}

/** The user looks again after this, and gives a command. */
const USER_PATIENCE_MS = 2_000;
/** Then something is broken for good. */
const GIVE_UP_MS = 120_000;
const LOOK_EVERY_MS = 25;

export async function killAll(stage: Stage, { kills, say, stop }: KillerOptions): Promise<Killed> {
  const killed: Killed = { hits: [], missed: [] };
  let delivered = 0;
  for (const strike of plannedStrikes(stage.seed)) {
    await delay(strike.pause_ms);
    if (delivered >= kills || stop.aborted) break;
    const hit = await strikeOnce(stage, strike, stop);
    if (hit === undefined) killed.missed.push(strike);
    else killed.hits.push(hit);
    if (hit?.how === 'kill') delivered += 1;
    say(line(strike, hit, delivered));
    if (hit === undefined) await command(stage, say);
    else await recover(stage, strike, say);
  }
  await comeBack(stage, say);
  return killed;
}

async function recover(stage: Stage, strike: Strike, say: (line: string) => void): Promise<void> {
  if (strike.target === 'runner') return;
  if (strike.target === 'supervisor' || strike.target === 'everything') {
    await delay(strike.absence_ms);
    await command(stage, say);
    return;
  }
  if (strike.impatient) return;
  const give_up = performance.now() + USER_PATIENCE_MS;
  while (performance.now() < give_up) {
    if ((await readRunning(stage.home, true)) !== undefined) return;
    await delay(LOOK_EVERY_MS);
  }
  await command(stage, say);
}

/** The next command of a user: it repairs what does not run. A user whose command fails gives it again. */
async function command(stage: Stage, say: (line: string) => void): Promise<void> {
  await ensureUp(stage.home, { env: stage.env }).catch((error: unknown) =>
    say(`  a command failed: ${String(error)}`),
  );
}

async function comeBack(stage: Stage, say: (line: string) => void): Promise<void> {
  const give_up = performance.now() + GIVE_UP_MS;
  for (;;) {
    try {
      await ensureUp(stage.home, { env: stage.env });
      return;
    } catch (error) {
      say(`  a command failed: ${String(error)}`);
      if (performance.now() > give_up) throw error;
      await delay(1_000);
    }
  }
}

function line(strike: Strike, hit: Hit | undefined, delivered: number): string {
  const where = strike.point === undefined ? '' : ` at ${strike.point}`;
  const who = hit === undefined ? 'found nobody' : `hit ${hit.pids.join(', ')} at ${hit.at}`;
  return `#${strike.number} (${delivered}) ${strike.how} ${strike.target}${where}: ${who}`;
}
