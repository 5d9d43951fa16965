/** The command line as a user runs it: a real process, in a home of its own, with a scripted model. */
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa, type Options, type ResultPromise } from 'execa';
import type { Home } from '../../src/host/home.ts';
import { startScriptedModel, type Script, type ScriptedModel } from '../../src/demo/scriptedModel.ts';
import { temporaryHome } from './temporaryHome.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** What a finished command left. */
export interface Ended {
  code: number | undefined;
  stdout: string;
  stderr: string;
}

export interface HoldfastRig extends AsyncDisposable {
  home: Home;
  /** A folder for sessions to work in. */
  workspace: string;
  env: NodeJS.ProcessEnv;
  model: ScriptedModel;
  /** Runs a command to its end, in the workspace. */
  holdfast: (args: string[], options?: Options) => Promise<Ended>;
  /** Starts a command. */
  start: (args: string[], options?: Options) => Running;
}

type Running = ReturnType<typeof startHoldfast>;

/** A home without a server yet: the first command that needs one starts it. */
export async function holdfastRig(script: Script): Promise<HoldfastRig> {
  const temporary = await temporaryHome();
  const { home } = temporary;
  const model = await startScriptedModel({ script });
  const workspace = join(await realpath(home.root), 'ws');
  await mkdir(workspace);
  const env = cleanEnvironment({
    HOLDFAST_HOME: home.root,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'sk-test-1234567890',
    HOLDFAST_MODEL: 'scripted',
    HOLDFAST_USER: 'tester',
  });
  const start = (args: string[], options: Options = {}): Running =>
    startHoldfast(args, { env, cwd: workspace, ...options });
  return {
    home,
    workspace,
    env,
    model,
    start,
    holdfast: async (args, options) => ended(await start(args, options)),
    async [Symbol.asyncDispose]() {
      await model.close();
      await temporary[Symbol.asyncDispose]();
    },
  };
}

/** `node src/cli/main.ts ARGS`; never rejects for the exit code. */
export function startHoldfast(args: string[], options: Options): ResultPromise {
  return execa(process.execPath, [MAIN, ...args], {
    extendEnv: false,
    reject: false,
    input: '',
    ...options,
  } as Options) as ResultPromise;
}

/** Runs to the end. */
export async function runHoldfast(args: string[], options: Options): Promise<Ended> {
  return ended(await startHoldfast(args, options));
}

/** Of this process's environment only what a program needs to run, and to find the Temporal CLI. */
export function cleanEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, HOLDFAST_TEMPORAL_CLI, XDG_CACHE_HOME } = process.env;
  return {
    PATH,
    HOME,
    ...(HOLDFAST_TEMPORAL_CLI && { HOLDFAST_TEMPORAL_CLI }),
    ...(XDG_CACHE_HOME && { XDG_CACHE_HOME }),
    ...more,
  };
}

function ended(result: Awaited<Running>): Ended {
  return { code: result.exitCode, stdout: String(result.stdout), stderr: String(result.stderr) };
}
