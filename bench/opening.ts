/** A long session opened from its archive: to the first model request, to the first screen, and in memory. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { compactNow } from '../src/client/compact.ts';
import { newSessionId } from '../src/client/ids.ts';
import { sendMessage, waitIdle } from '../src/client/index.ts';
import { hostId } from '../src/host/home.ts';
import { copyLongSession, writeLongSession } from './longSession.ts';
import { residentMemory } from './processes.ts';
import { DIST, type Stage } from './stage.ts';
import { spread, type Row } from './statistics.ts';

const SIZES = [
  ['1 MB', 1_000_000],
  ['100 MB', 100_000_000],
  ['1 GB', 1_000_000_000],
] as const;
/** Of each size: by a message, by looking at them, and to see what they leave in the worker's memory. */
const REQUESTS = 9;
const SCREENS = 5;
const KEPT_OPEN = 5;

/** A size, with what was measured of it. */
interface Measured {
  size: string;
  /** Each a session of its own, which no worker has ever seen. */
  ids: string[];
  requests: number[];
  screens: number[];
  summaries: number[];
}

export async function measureOpening(stage: Stage): Promise<Row[]> {
  await warmUp(stage);
  const all: Measured[] = [];
  for (const [size, bytes] of SIZES) {
    const ids = await writeSessions(stage, bytes, REQUESTS + SCREENS + KEPT_OPEN);
    all.push({ size, ids, requests: [], screens: [], summaries: [] });
  }
  // One of each size in turn, so that what else the machine does meanwhile falls on all alike.
  for (let turn = 0; turn < REQUESTS; turn += 1) for (const each of all) await measureRequest(stage, each);
  for (let turn = 0; turn < SCREENS; turn += 1)
    for (const { ids, screens } of all) screens.push(await firstScreen(stage, next(ids)));
  return [...all.flatMap((each) => rowsOf(each)), ...(await measureKept(stage, all))];
}

async function measureRequest(stage: Stage, { ids, requests, summaries }: Measured): Promise<void> {
  const session_id = next(ids);
  requests.push(await firstRequest(stage, session_id));
  summaries.push(await summary(stage, session_id));
}

function rowsOf({ size, requests, screens, summaries }: Measured): Row[] {
  return [
    ...spread(`session of ${size}, message to model request`, 'ms', requests, 300),
    ...spread(`session of ${size}, holdfast resume to its screen`, 'ms', screens),
    ...spread(`session of ${size}, a summary, the model's time left out`, 'ms', summaries),
  ];
}

/** The worker's memory after it has opened some of each size, the small ones first. */
async function measureKept(stage: Stage, all: Measured[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { size, ids } of all) {
    for (const session_id of ids) await firstRequest(stage, session_id);
    const what = `resident memory, worker, after ${ids.length} more of ${size}`;
    rows.push({ what, ...(await residentMemory(stage, 'worker')) });
  }
  return rows;
}

function next(ids: string[]): string {
  const id = ids.shift();
  if (id === undefined) throw new Error('Expected a session that is not opened yet, found none.');
  return id;
}

/** The first session that a worker opens is slower, as all its code is. */
async function warmUp(stage: Stage): Promise<void> {
  for (const session_id of await writeSessions(stage, SIZES[0][1], 5)) await firstRequest(stage, session_id);
}

async function writeSessions(stage: Stage, bytes: number, count: number): Promise<string[]> {
  const workspace = { host: await hostId(stage.home), path: stage.workspace };
  const first = newSessionId();
  const root = stage.home.archive;
  await writeLongSession(root, { session_id: first, workspace, settings: stage.settings, bytes });
  const ids = Array.from({ length: count - 1 }, () => newSessionId());
  for (const id of ids) await copyLongSession(root, first, id);
  return [first, ...ids];
}

async function firstRequest(stage: Stage, session_id: string): Promise<number> {
  stage.model.requests.length = 0;
  const start = Date.now();
  await sendMessage(stage.service, session_id, { text: '0 steps' });
  await waitIdle(stage.service, session_id, { signal: new AbortController().signal });
  const [request] = stage.model.requests;
  if (request === undefined) throw new Error('Expected a model request, found none.');
  return Date.parse(request.at) - start;
}

/** From the request for a summary to its event; the model answers at once. */
async function summary(stage: Stage, session_id: string): Promise<number> {
  const start = performance.now();
  const end = await compactNow(stage.service, session_id, 'bench', { signal: new AbortController().signal });
  if (end?.type !== 'summary_created') throw new Error(`Expected a summary, found ${JSON.stringify(end)}.`);
  return performance.now() - start;
}

/** From the start of the process until the end of the transcript is on the screen. */
async function firstScreen(stage: Stage, session_id: string): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, [join(DIST, 'cli/main.js'), 'resume', session_id], {
    env: { ...process.env, HOLDFAST_HOME: stage.home.root, NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let seen = '';
  for await (const text of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    seen += text;
    if (seen.includes('archived')) break;
  }
  const took = performance.now() - start;
  child.kill('SIGKILL');
  if (child.exitCode === null) await once(child, 'exit');
  if (!seen.includes('archived')) throw new Error(`Expected the transcript to its end, found: ${seen}`);
  return took;
}
