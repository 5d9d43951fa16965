/**
 * The whole story without a key: a sample project with a failing test, a scripted model behind a real HTTP
 * endpoint, a worker that is killed while it works, and the repair finished all the same. Everything but the
 * model's wit is the product itself.
 */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, createSession, EXIT, followRun, readEvents } from '../client/index.ts';
import type { ExitCode, RunOutcome, Service } from '../client/index.ts';
import type { SessionEvent } from '../domain/event.ts';
import { homeAt, hostId, prepareHome } from '../host/home.ts';
import type { Home } from '../host/home.ts';
import { readStatus, takeDown } from '../server/installation.ts';
import { Progress } from '../ui/progress.ts';
import type { Screen } from '../ui/screen.ts';
import { costLines } from './cost.ts';
import { DEMO_PROMPT, demoScript, TEST_COMMAND } from './demoScript.ts';
import { RUNNING_MARK, TEST_LOG, writeSampleProject } from './sampleProject.ts';
import { startScriptedModel } from './scriptedModel.ts';
import type { ScriptedModel } from './scriptedModel.ts';

export interface DemoOptions {
  /** Called when the story is told and everything still runs; what it awaits keeps the Web UI open. */
  linger: (ui_url: string) => Promise<void>;
}

/** Tells the story on `screen` and takes everything down again. Resolves with the run's exit code. */
export async function runDemo(screen: Screen, { linger }: DemoOptions): Promise<ExitCode> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-demo-'));
  const home = homeAt(join(folder, 'home'));
  const model = await startScriptedModel({ script: demoScript() });
  try {
    await prepareHome(home);
    const service = await connect(home, embeddedOnly(process.env), {
      onProgress: (line) => screen.note(line),
    });
    try {
      return await tell(screen, { service, home, model, workspace: join(folder, 'shop') }, linger);
    } finally {
      await service.close();
    }
  } finally {
    await model.close();
    await takeDown(home);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

interface Stage {
  service: Service;
  home: Home;
  model: ScriptedModel;
  workspace: string;
}

async function tell(screen: Screen, stage: Stage, linger: DemoOptions['linger']): Promise<ExitCode> {
  const { service, home, model, workspace } = stage;
  await writeSampleProject(workspace);
  const { session_id, message_id } = await createSession(service, {
    user_id: 'demo',
    workspace: { host: await hostId(home), path: workspace },
    settings: {
      model: 'scripted',
      api: 'chat',
      base_url: model.url,
      approval: 'auto',
      on_interrupt: 'continue',
    },
    text: DEMO_PROMPT,
  });
  const ui_url = `${service.endpoint.ui_url ?? ''}/namespaces/default/workflows/${encodeURIComponent(`holdfast/${session_id}`)}`;
  introduce(screen, stage, session_id, ui_url);
  const events: SessionEvent[] = [];
  const killer = new Killer(screen, stage);
  const progress = new Progress(screen);
  const run = await followRun(service, session_id, message_id, {
    from: 1,
    signal: new AbortController().signal,
    onWaiting: () => false,
    onDelta: (delta) => progress.delta(delta),
    onConnection: (change) => progress.connection(change),
    onEvent: (event) => {
      events.push(event);
      progress.event(event);
      killer.see(event);
    },
  });
  await killer.done;
  await conclude(screen, stage, session_id, run.outcome);
  await linger(ui_url);
  return run.outcome?.exit_code ?? EXIT.runFailed;
}

function introduce(screen: Screen, { workspace, model }: Stage, session_id: string, ui_url: string): void {
  const { bold, dim } = screen.styles;
  screen.note(bold('Holdfast demo: a coding agent that can be killed'));
  screen.note(dim(`  project   ${workspace} (a sample; its login test fails)`));
  screen.note(dim(`  model     a script behind ${model.url}, in place of a real one`));
  screen.note(dim(`  session   ${session_id}`));
  screen.note(dim(`  Web UI    ${ui_url}`));
  screen.note('');
  screen.note(bold(`> ${DEMO_PROMPT}`));
}

/** Kills the worker, once, while the test runs for the second time. */
class Killer {
  readonly #screen: Screen;
  readonly #stage: Stage;
  #tests = 0;
  done: Promise<void> = Promise.resolve();

  constructor(screen: Screen, stage: Stage) {
    this.#screen = screen;
    this.#stage = stage;
  }

  see(event: SessionEvent): void {
    if (event.type !== 'tool_call' || event.target !== TEST_COMMAND) return;
    this.#tests += 1;
    if (this.#tests === 2) this.done = this.#kill();
  }

  async #kill(): Promise<void> {
    const { home, workspace } = this.#stage;
    while (!(await isThere(join(workspace, RUNNING_MARK)))) await delay(20);
    const { worker } = await readStatus(home);
    if (worker === null) return;
    process.kill(worker.pid, 'SIGKILL');
    this.#screen.note(
      this.#screen.styles.bad(`! kill -9 ${worker.pid}: the worker is dead, in the middle of the test`),
    );
  }
}

async function conclude(
  screen: Screen,
  { service, model, workspace }: Stage,
  session_id: string,
  outcome: RunOutcome | null,
): Promise<void> {
  const events = await Array.fromAsync(readEvents(service, session_id, 1));
  const replies = events.filter((event) => event.type === 'assistant_message');
  const tests = (await readFile(join(workspace, TEST_LOG), 'utf8')).trim().split('\n');
  const { bold, good, bad } = screen.styles;
  // A terminal has seen the answer being written.
  if (!screen.terminal.live) screen.print(replies.at(-1)?.text ?? '');
  const ended =
    outcome?.status === 'success'
      ? good('The run ended well, and this is what the crash cost:')
      : bad(`The run ended: ${outcome?.status ?? 'unknown'}`);
  for (const line of [
    '',
    ended,
    ...costLines({ events, requests: model.requests.length, testRuns: tests.length }),
    '',
    bold('Go on with a real model:'),
    '  export OPENAI_API_KEY=…      (or OPENAI_BASE_URL and HOLDFAST_MODEL for any compatible server)',
    '  npm run holdfast -- run "what does this project do?" --workspace DIR',
  ]) {
    screen.note(line);
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The demo has its own server and worker, whatever the user has configured. */
function embeddedOnly(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(TEMPORAL_|HOLDFAST_(?!TEMPORAL_CLI)|OPENAI_)/.test(name)),
  );
}
