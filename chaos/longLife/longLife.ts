/** One session through many steps, with kills on the way. */
import { mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  connect,
  createSession,
  readEvents,
  sendMessage,
  waitIdle,
  type Service,
} from '../../src/client/index.ts';
import { startScriptedModel } from '../../src/demo/scriptedModel.ts';
import { homeAt, hostId, prepareHome, type Home } from '../../src/host/home.ts';
import { ensureUp, readStatus, takeDown } from '../../src/server/installation.ts';
import { Random } from '../random.ts';
import { checkEffects, LogCheck } from './check.ts';
import { longModel, type LongModel } from './model.ts';

export interface LongLifeOptions {
  steps: number;
  kills: number;
  seed: string;
}

const LOOK_EVERY_MS = 20;

export async function longLife(options: LongLifeOptions): Promise<{ report: string; problems: string[] }> {
  const begun = performance.now();
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hfl-')));
  const home = homeAt(join(folder, 'h'));
  const workspace = join(folder, 'w');
  await mkdir(workspace);
  await prepareHome(home);
  const long = longModel(options.steps);
  const model = await startScriptedModel({ script: long.script });
  const forgetting = setInterval(() => (model.requests.length = 0), 1_000);
  try {
    await ensureUp(home, { env: environment(home) });
    const service = await connect(home, environment(home), { worker: false });
    const ending = new AbortController();
    const killing = kill(home, long, options, ending.signal);
    const session_id = await live(service, long, { home, workspace, url: model.url, steps: options.steps });
    ending.abort();
    const kills = await killing;
    const check = new LogCheck();
    for await (const event of readEvents(service, session_id)) check.add(event);
    await service.close();
    const problems = [...check.problems, ...long.refused, ...(await checkEffects(workspace, options.steps))];
    const segments = (await readdir(join(home.archive, session_id))).filter((name) => name.endsWith('.json'));
    const { events, runs, summaries, recoveries, contexts } = check.counts;
    const seconds = Math.round((performance.now() - begun) / 1000);
    const report = [
      `${options.steps} steps in ${runs} runs, ${seconds} s, seed ${options.seed}: ${kills.join(', ') || 'no kills'}`,
      `${events} events, ${segments.length + 1} Temporal runs, ${summaries} summaries, ${recoveries} recovery events`,
      `${contexts} contexts built again from the events, each with the digest that was recorded`,
      problems.length === 0
        ? 'seq without gaps, one result a call, each effect once and in order, no conversation refused'
        : `PROBLEMS:\n${problems.slice(0, 20).join('\n')}`,
    ];
    return { report: report.join('\n'), problems };
  } finally {
    clearInterval(forgetting);
    await takeDown(home);
    await model.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function live(
  service: Service,
  long: LongModel,
  { home, workspace, url, steps }: { home: Home; workspace: string; url: string; steps: number },
): Promise<string> {
  const { session_id } = await createSession(service, {
    user_id: 'long',
    workspace: { host: await hostId(home), path: workspace },
    settings: { model: 'long', api: 'chat', base_url: url, approval: 'auto', on_interrupt: 'continue' },
    text: 'begin',
  });
  for (let message = 1; ; message += 1) {
    const end = await waitIdle(service, session_id, { signal: new AbortController().signal });
    if (end?.status !== 'success' || long.steps() >= steps) return session_id;
    await sendMessage(service, session_id, { text: `go on, part ${message}` });
  }
}

/** Spread over the steps; each at a random moment of one. Returns how often what was killed. */
async function kill(
  home: Home,
  long: LongModel,
  { steps, kills, seed }: LongLifeOptions,
  signal: AbortSignal,
): Promise<string[]> {
  const random = new Random(seed, 'long life');
  const killed = { worker: 0, server: 0, everything: 0 };
  for (let number = 1; number <= kills && !signal.aborted; number += 1) {
    const at = Math.floor((steps * (number - random.next())) / kills);
    while (long.steps() < at && !signal.aborted) await delay(LOOK_EVERY_MS);
    await delay(random.int(0, 200));
    const what = random.weighted([
      { weight: 7, value: 'worker' as const },
      { weight: 2, value: 'server' as const },
      { weight: 1, value: 'everything' as const },
    ]);
    const status = await readStatus(home);
    const parts = what === 'everything' ? (['supervisor', 'server', 'worker'] as const) : ([what] as const);
    const pids = parts.flatMap((part) => status[part]?.pid ?? []);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    if (pids.length > 0) killed[what] += 1;
    if (what === 'everything') await ensureUp(home, { env: environment(home) });
  }
  return Object.entries(killed).map(([what, count]) => `${what} killed ${count} times`);
}

function environment(home: Home): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(HOLDFAST|TEMPORAL|OPENAI)_/.test(name) || name === 'HOLDFAST_TEMPORAL_CLI',
  );
  return { ...Object.fromEntries(kept), HOLDFAST_HOME: home.root };
}
