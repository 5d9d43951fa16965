/** Where it happens: a home of its own, the model's endpoint, an outside service, a workspace for each session. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect, type Service } from '../src/client/index.ts';
import { startScriptedModel } from '../src/demo/scriptedModel.ts';
import { homeAt, hostId, prepareHome, type Home } from '../src/host/home.ts';
import { ensureUp, takeDown } from '../src/server/installation.ts';
import type { CallSurroundings } from './load/calls.ts';
import { startEffectServer, type Arrival } from './load/effectServer.ts';
import { chaosModel } from './load/model.ts';
import { Observations } from './load/observations.ts';

const run = promisify(execFile);
/** The scripted endpoint's own list is not needed: what counts of it is in the observations. */
const FORGET_EVERY_MS = 1_000;

export interface Stage {
  seed: string;
  folder: string;
  home: Home;
  host: string;
  /** For everything that is started here. */
  env: NodeJS.ProcessEnv;
  /** The folder of planted faults. */
  faults: string;
  service: Service;
  modelUrl: string;
  observations: Observations;
  /** What arrived at the outside service. */
  arrivals: Arrival[];
  workspaceOf: (session: number) => string;
  surroundings: (session: number, message: number) => CallSurroundings;
  /** Makes the folders of a session. */
  prepare: (session: number) => Promise<void>;
  /** Ends what was started here; the folder stays if `keep`. */
  close: (options: { keep: boolean }) => Promise<void>;
}

export interface StageOptions {
  seed: string;
  onAnswer: (session: number, messages: number[]) => void;
}

export async function setStage({ seed, onAnswer }: StageOptions): Promise<Stage> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hfc-')));
  const home = homeAt(join(folder, 'h'));
  const faults = join(folder, 'faults');
  await prepareHome(home);
  for (const name of ['faults', 'effects', 'w']) await mkdir(join(folder, name));
  const effects = await startEffectServer();
  await writeFile(home.settingsFile, JSON.stringify({ http: { allow: [{ host: effects.host }] } }));
  const observations = new Observations(home.journal);
  const surroundings = (session: number, message: number): CallSurroundings => ({
    session,
    message,
    effectsLog: effectsLogOf(folder, session),
    effectsUrl: effects.url,
  });
  const model = await startScriptedModel({
    script: chaosModel({ seed, observations, surroundings, onAnswer }),
  });
  const forgetting = setInterval(() => (model.requests.length = 0), FORGET_EVERY_MS);
  const env = environment(home, faults);
  await ensureUp(home, { env });
  const service = await connect(home, env, { worker: false });
  const workspaceOf = (session: number): string => join(folder, 'w', `s${session}`);
  return {
    seed,
    folder,
    home,
    host: await hostId(home),
    env,
    faults,
    service,
    modelUrl: model.url,
    observations,
    arrivals: effects.arrivals,
    workspaceOf,
    surroundings,
    prepare: async (session) => {
      await mkdir(workspaceOf(session));
      await makeRepository(workspaceOf(session));
      await writeFile(effectsLogOf(folder, session), '');
    },
    close: async ({ keep }) => {
      clearInterval(forgetting);
      await service.close();
      await takeDown(home);
      await model.close();
      await effects.close();
      if (!keep) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The file to which a session's commands append. */
export function effectsLogOf(folder: string, session: number): string {
  return join(folder, 'effects', `s${session}.log`);
}

function environment(home: Home, faults: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(HOLDFAST|TEMPORAL|OPENAI)_/.test(name) || name === 'HOLDFAST_TEMPORAL_CLI',
  );
  return { ...Object.fromEntries(kept), HOLDFAST_HOME: home.root, HOLDFAST_FAULTS: faults };
}

async function makeRepository(path: string): Promise<void> {
  const git = async (...args: string[]): Promise<unknown> => run('git', ['-C', path, ...args]);
  await git('init', '--quiet', '--initial-branch', 'main');
  await git('config', 'user.name', 'Chaos');
  await git('config', 'user.email', 'chaos@example.invalid');
  await git('commit', '--quiet', '--allow-empty', '--message', 'Begin');
}
