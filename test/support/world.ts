/**
 * What one test needs: a home, a workspace, a scripted model behind real HTTP, and the command line as a user runs
 * it. Disposing of it stops everything that it started.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startScriptedModel } from '../../src/demo/scriptedModel.ts';
import type { Script, ScriptedModel } from '../../src/demo/scriptedModel.ts';
import type { EventOf, EventType, SessionEvent } from '../../src/domain/event.ts';
import type { SessionFacts } from '../../src/domain/facts.ts';
import { homeAt } from '../../src/host/home.ts';
import type { Home } from '../../src/host/home.ts';
import { ensureUp, readStatus, takeDown } from '../../src/server/installation.ts';

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const POLL_MS = 25;

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface WorldOptions {
  api?: 'chat' | 'responses';
  /** Of an installation that others use as well (sharedWorlds.ts); absent: one of its own. */
  home?: Home;
}

export class World implements AsyncDisposable {
  readonly home: Home;
  readonly workspace: string;
  readonly model: ScriptedModel;
  readonly env: NodeJS.ProcessEnv;
  readonly #folder: string;
  readonly #isAlone: boolean;
  readonly #children = new Set<ChildProcess>();

  private constructor(folder: string, model: ScriptedModel, { api = 'chat', home }: WorldOptions) {
    this.#folder = folder;
    this.#isAlone = home === undefined;
    this.home = home ?? homeAt(join(folder, 'h'));
    this.workspace = join(folder, 'w');
    this.model = model;
    this.env = {
      ...withoutSettings(process.env),
      HOLDFAST_HOME: this.home.root,
      OPENAI_BASE_URL: model.url,
      HOLDFAST_MODEL: 'scripted',
      HOLDFAST_API: api,
      NO_COLOR: '1',
    };
  }

  static async create(script: Script, options: WorldOptions = {}): Promise<World> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
    const world = new World(folder, await startScriptedModel({ script }), options);
    await mkdir(world.workspace);
    return world;
  }

  /** The path of a file beside the workspace. */
  beside(name: string): string {
    return join(this.#folder, name);
  }

  /** Makes an empty file in the workspace, which a command may wait for. */
  async touch(name: string): Promise<void> {
    await writeFile(join(this.workspace, name), '');
  }

  /** Runs `holdfast ARGS` to its end. */
  async cli(args: string[], options: { cwd?: string; input?: string } = {}): Promise<Ended> {
    return this.begin(args, options).ended;
  }

  /** Runs `holdfast ARGS` and its JSON document; a failure rejects with what it printed. */
  async json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.cli([...args, '--json']);
    if (code !== 0) throw new Error(`holdfast ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** Starts `holdfast ARGS`. */
  begin(
    args: string[],
    { cwd = this.workspace, input }: { cwd?: string; input?: string } = {},
  ): {
    child: ChildProcess;
    ended: Promise<Ended>;
  } {
    const child = spawn(process.execPath, [CLI, ...args], { cwd, env: this.env, stdio: 'pipe' });
    this.#children.add(child);
    const out = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (out.stderr += text));
    child.stdin.end(input ?? '');
    const { promise, resolve } = Promise.withResolvers<Ended>();
    child.once('close', (code) => {
      this.#children.delete(child);
      resolve({ code, ...out });
    });
    return { child, ended: promise };
  }

  /** Starts a session with this prompt and does not wait for it. */
  async start(prompt: string, ...options: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.cli(['run', prompt, '--detach', ...options]);
    if (code !== 0) throw new Error(`holdfast run --detach ended with ${code}: ${stderr}`);
    return stdout.trim();
  }

  async facts(session_id: string): Promise<SessionFacts> {
    return this.json<SessionFacts>('show', session_id);
  }

  async events(session_id: string): Promise<SessionEvent[]> {
    const { stdout } = await this.cli(['events', session_id, '--json']);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as SessionEvent);
  }

  /** The first event of a type that fits, as soon as it is there. */
  async event<T extends EventType>(
    session_id: string,
    type: T,
    fits: (event: EventOf<T>) => boolean = () => true,
  ): Promise<EventOf<T>> {
    const follower = this.begin(['events', session_id, '--follow', '--json']);
    try {
      let rest = '';
      for await (const text of follower.child.stdout as AsyncIterable<string>) {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const event = JSON.parse(line) as SessionEvent;
          if (event.type === type && fits(event as EventOf<T>)) return event as EventOf<T>;
        }
      }
    } finally {
      follower.child.kill('SIGKILL');
    }
    throw new Error(`Expected an event ${type}, but the session's events ended.`);
  }

  async wait(session_id: string): Promise<Ended> {
    return this.cli(['wait', session_id]);
  }

  /** kill -9 of a part of the installation. */
  async kill(part: 'worker' | 'server' | 'supervisor'): Promise<void> {
    const found = (await readStatus(this.home))[part];
    if (found === null) throw new Error(`Expected a running ${part}, found none.`);
    process.kill(found.pid, 'SIGKILL');
  }

  /** Brings everything up, or the server alone. */
  async up(options: { withWorker?: boolean } = {}): Promise<void> {
    await ensureUp(this.home, { env: this.env, ...options });
  }

  async down(): Promise<void> {
    await takeDown(this.home);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await this.model.close();
    if (this.#isAlone) await takeDown(this.home);
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Waits for something that no event announces, such as a file that a command writes. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await delay(POLL_MS);
  }
}

/** All events of one type. */
export function all<T extends EventType>(events: SessionEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** Seq counts from 1 without gaps, times never go back, and each call has at most one result. */
export function checkLog(events: SessionEvent[]): void {
  for (const [index, event] of events.entries()) {
    if (event.seq !== index + 1) throw new Error(`Expected seq ${index + 1}, found ${event.seq}.`);
    if (event.at < (events[index - 1]?.at ?? ''))
      throw new Error(`Event ${event.seq} is older than the one before.`);
  }
  const results = all(events, 'tool_result').map((event) => event.operation_id);
  if (new Set(results).size !== results.length)
    throw new Error('Expected one result for each call, found two.');
}

function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(HOLDFAST|TEMPORAL|OPENAI)_/.test(name) || name === 'HOLDFAST_TEMPORAL_CLI',
  );
  return Object.fromEntries(kept);
}
