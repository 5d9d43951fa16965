/** A run without a chat: progress on stderr, the answer on stdout once, an exit code that says what came of it. */
import { EXIT, HoldfastError, type ExitCode } from '../client/errors.ts';
import { followRun } from '../client/run.ts';
import type { RunTracker } from '../client/runTracker.ts';
import { decide, interrupt } from '../client/send.ts';
import type { RunOutcome } from '../client/outcome.ts';
import type { Service } from '../client/service.ts';
import { Progress } from '../ui/progress.ts';
import type { Screen } from '../ui/screen.ts';
import { approvalQuestion } from '../ui/question.ts';
import { oneLine } from '../ui/text.ts';
import { askYesNo } from './ask.ts';
import type { Begun } from './begin.ts';
import type { Context, Options } from './context.ts';

/** An interrupt that nobody has confirmed for so long is not waited for. */
const INTERRUPT_PATIENCE_MS = 30_000;

/** Follows the message's run to its end and resolves with the exit code. */
export async function followHeadless(
  context: Context,
  service: Service,
  begun: Begun,
  options: Options,
  by: string,
): Promise<ExitCode> {
  const { screen } = context;
  const json = options['json'] === true;
  const progress = new Progress(screen, { asks: screen.terminal.interactive && !json });
  const stop = new Stop(context, service, begun.session_id, by);
  stop.after(options['timeout'] as number | undefined);
  try {
    const run = await followRun(service, begun.session_id, begun.message_id, {
      from: begun.from,
      signal: stop.signal,
      onEvent: (event, _run, mine) => {
        if (json && (mine || event.type === 'session_created')) screen.json(event);
        if (!json && mine) progress.event(event);
      },
      onDelta: (delta) => {
        if (!json) progress.delta(delta);
      },
      onConnection: (change) => progress.connection(change),
      onWaiting: async (run) => {
        if (json || !screen.terminal.interactive) return false;
        await askForAll(context, service, begun.session_id, run, by);
        return true;
      },
    });
    return stop.left ?? conclude(context, begun, run, json);
  } finally {
    stop.release();
  }
}

/** Ctrl+C: the first interrupts the run, the second leaves it alone. */
class Stop {
  readonly #context: Context;
  readonly #service: Service;
  readonly #session_id: string;
  readonly #by: string;
  readonly #controller = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #interrupted = false;
  /** Why nothing is waited for any more. */
  left: ExitCode | null = null;

  constructor(context: Context, service: Service, session_id: string, by: string) {
    this.#context = context;
    this.#service = service;
    this.#session_id = session_id;
    this.#by = by;
    process.on('SIGINT', this.#onSignal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Interrupts the run after so many seconds. */
  after(seconds: number | undefined): void {
    if (seconds === undefined) return;
    this.#timers.push(
      setTimeout(() => this.#interrupt(`after ${seconds} s, as --timeout says`), seconds * 1000),
    );
  }

  release(): void {
    process.off('SIGINT', this.#onSignal);
    for (const timer of this.#timers) clearTimeout(timer);
  }

  readonly #onSignal = (): void => {
    if (this.#interrupted)
      this.#leave(EXIT.detached, `detached; \`holdfast wait ${this.#session_id}\` waits for it`);
    else this.#interrupt('; Ctrl+C again detaches without waiting for its end');
  };

  #interrupt(words: string): void {
    const { screen } = this.#context;
    this.#interrupted = true;
    screen.note(screen.styles.warn(`! interrupting the run${words.startsWith(';') ? '' : ' '}${words}`));
    interrupt(this.#service, this.#session_id, this.#by).catch((error: unknown) => {
      screen.note(screen.styles.bad(`! ${error instanceof Error ? error.message : String(error)}`));
    });
    this.#timers.push(
      setTimeout(
        () => this.#leave(EXIT.interrupted, 'the interrupt was accepted, and not confirmed yet'),
        INTERRUPT_PATIENCE_MS,
      ),
    );
  }

  #leave(code: ExitCode, words: string): void {
    this.#context.screen.note(`! ${words}`);
    this.left = code;
    this.#controller.abort();
  }
}

async function askForAll(
  { screen }: Context,
  service: Service,
  session_id: string,
  run: RunTracker,
  by: string,
): Promise<void> {
  for (const [call_id, call] of run.pending) {
    const yes = await askYesNo(screen, approvalQuestion(call, screen.terminal.columns, '[y/n]'));
    if (yes === undefined) return; // Ctrl+C is handled by its own listener
    await decide(service, session_id, { call_id, decision: yes ? 'approve' : 'deny', by, reason: '' });
    run.pending.delete(call_id);
  }
}

/** Says how it ended. The answer is the only thing on stdout. */
function conclude({ screen }: Context, { session_id }: Begun, run: RunTracker, json: boolean): ExitCode {
  if (run.outcome === null) {
    if (run.pending.size > 0) throw waitingForPerson(session_id, run);
    throw new HoldfastError(
      'session.archived',
      `Expected the run to end, found session ${session_id} archived before it.`,
      `Open it again with \`holdfast resume ${session_id}\`.`,
      EXIT.runFailed,
    );
  }
  // On a terminal it was written while it came.
  const piped = !json && !screen.terminal.live;
  if (piped && run.outcome.status === 'success' && run.answer !== null) {
    screen.print(run.answer.replace(/\n+$/, ''));
  }
  sayOutcome(screen, run.outcome);
  screen.note(screen.styles.dim(`session ${session_id}, go on with: holdfast resume ${session_id}`));
  return run.outcome.exit_code;
}

function sayOutcome(screen: Screen, { status, error, exit_code }: RunOutcome): void {
  if (status === 'failed') {
    const { message, remedy } = error ?? { message: 'no reason was given', remedy: '' };
    screen.note(screen.styles.bad(`holdfast: the run failed: ${oneLine(message)}`));
    if (remedy !== '') screen.note(`  ${oneLine(remedy)}`);
  }
  if (exit_code === EXIT.waitingForPerson) {
    screen.note(screen.styles.warn('! the run waits for you: look at what is uncertain, then go on'));
  }
}

function waitingForPerson(session_id: string, run: RunTracker): HoldfastError {
  const calls = [...run.pending.values()].map(({ tool, target }) => `${tool} ${oneLine(target)}`);
  return new HoldfastError(
    'approval.pending',
    `Expected the run to end, found it waiting for approval of: ${calls.join('; ')}`,
    `\`holdfast approve ${session_id}\` or \`holdfast deny ${session_id} --reason TEXT\`, then \`holdfast wait ${session_id}\`.`,
    EXIT.waitingForPerson,
  );
}
