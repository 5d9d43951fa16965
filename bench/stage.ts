/** What the measurements share: a home with a server and the built worker, an instant model, an instant tool. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, createSession } from '../src/client/index.ts';
import type { Service } from '../src/client/index.ts';
import { callTool, say } from '../src/demo/scriptedTurns.ts';
import { startScriptedModel } from '../src/demo/scriptedModel.ts';
import type { ScriptedModel } from '../src/demo/scriptedModel.ts';
import type { SessionSettings } from '../src/domain/event.ts';
import type { Home } from '../src/host/home.ts';
import { homeAt, hostId, prepareHome } from '../src/host/home.ts';
import { ensureUp, takeDown } from '../src/server/installation.ts';

export const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const FILE = 'tiny.txt';
/** The command of `startCommand` makes it when it begins. */
export const RUNNING_FILE = 'running';

export interface Stage extends AsyncDisposable {
  home: Home;
  service: Service;
  model: ScriptedModel;
  workspace: string;
  /** Of its sessions: the instant model. */
  settings: SessionSettings;
  address: string;
  /** Starts a session of `steps` model calls with one tool call each, and returns its id. */
  startSession: (steps: number) => Promise<string>;
  /** Starts a session with one command, by default a short one. */
  startCommand: (command?: string) => Promise<string>;
  /** Resolves when the model has given so many final answers from now on. */
  countAnswers: (number: number) => Promise<void>;
}

const COMMAND = `touch ${RUNNING_FILE}; sleep 0.2`;
export const LONG_COMMAND = `touch ${RUNNING_FILE}; sleep 600; true`;

/** Everything up, with the worker of the published package. */
export async function setStage({ withWorker = true } = {}): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'hfb-'));
  const home = homeAt(join(folder, 'home'));
  await prepareHome(home);
  await writeFile(join(folder, FILE), 'tiny\n');
  const { address } = await ensureUp(home, { withWorker, workerEntry: join(DIST, 'worker/main.js') });
  const service = await connect(home, process.env, { worker: false });
  let onAnswer: (() => void) | undefined;
  const model = await startScriptedModel({
    script: ({ step, lastUserText }) => {
      if (lastUserText === COMMAND || lastUserText === LONG_COMMAND)
        return step === 0 ? callTool('bash', { command: lastUserText }) : say('done');
      const steps = Number(/^(\d+) steps/.exec(lastUserText)?.[1]);
      if (step < steps) return callTool('read_file', { path: FILE });
      onAnswer?.();
      return say('done');
    },
  });
  const host = await hostId(home);
  const settings: SessionSettings = {
    model: 'instant',
    api: 'chat',
    base_url: model.url,
    approval: 'auto',
    on_interrupt: 'continue',
  };
  const start = async (text: string): Promise<string> => {
    const { session_id } = await createSession(service, {
      user_id: 'bench',
      workspace: { host, path: folder },
      settings,
      text,
    });
    return session_id;
  };
  return {
    home,
    service,
    model,
    workspace: folder,
    settings,
    address,
    countAnswers: async (number) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      let left = number;
      onAnswer = () => {
        left -= 1;
        if (left === 0) resolve();
      };
      return promise;
    },
    startSession: async (steps) => start(`${steps} steps`),
    startCommand: async (command = COMMAND) => start(command),
    async [Symbol.asyncDispose]() {
      await service.close();
      await model.close();
      await takeDown(home);
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
