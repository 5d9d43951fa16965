/** The whole run: sessions at work, a killer, and then the world held against the log. */
import { setTimeout as delay } from 'node:timers/promises';
import { check } from './check/check.ts';
import { gather, type Evidence } from './check/evidence.ts';
import type { Violation } from './check/verdict.ts';
import { killAll } from './kill/killer.ts';
import { listRunners } from './kill/runners.ts';
import { Answers } from './load/answers.ts';
import { talk } from './load/talker.ts';
import type { ChaosOptions } from './options.ts';
import { formatReport } from './report.ts';
import { setStage, type Stage } from './stage.ts';

export interface ChaosEnd {
  report: string;
  violations: Violation[];
  kills: number;
  /** Where everything still is, if something was wrong. */
  kept: string | undefined;
}

/** A job may go on after its session has nothing to do. */
const JOBS_END_WITHIN_MS = 15_000;

/**
 * Rejects only when the run itself could not be done. `say` is told each strike. Once `stop` is aborted
 * nobody is struck any more, and what was done until then is checked.
 */
export async function chaos(
  options: ChaosOptions,
  say: (line: string) => void,
  stop: AbortSignal = new AbortController().signal,
): Promise<ChaosEnd> {
  const begun = performance.now();
  const answers = new Answers();
  const stage = await setStage({
    seed: options.seed,
    onAnswer: (session, messages) => answers.note(session, messages),
  });
  say(`home ${stage.home.root}`);
  let keep = true;
  try {
    const enough = new AbortController();
    const talking = talk(stage, answers, { slots: options.sessions, enough: enough.signal });
    const broken = new AbortController();
    talking.catch(() => broken.abort()); // rethrown where it is awaited
    const killed = await killAll(stage, {
      kills: options.kills,
      say,
      stop: AbortSignal.any([stop, broken.signal]),
    });
    enough.abort();
    say('enough; waiting for what is under way');
    const told = await talking;
    await runnersGone(stage);
    const sessions: Evidence[] = [];
    for (const one of told) sessions.push(await gather(stage, one, killed.hits));
    const violations = sessions.flatMap((session) => check(session));
    keep = violations.length > 0;
    const seconds = (performance.now() - begun) / 1000;
    const report = formatReport({ seed: options.seed, seconds, killed, sessions, violations });
    const kills = killed.hits.filter(({ how }) => how === 'kill').length;
    return { report, violations, kills, kept: keep ? stage.folder : undefined };
  } finally {
    await stage.close({ keep });
  }
}

async function runnersGone(stage: Stage): Promise<void> {
  const give_up = performance.now() + JOBS_END_WITHIN_MS;
  while (performance.now() < give_up && (await listRunners(stage.home.journal)).length > 0) await delay(200);
  // A killed runner's command goes on without it; the longest takes a few seconds.
  await delay(4_000);
}
