/** A conversation at a plain prompt: what happens in the session is shown, what is typed is sent. */
import { EXIT, HoldfastError, type ExitCode } from '../../client/errors.ts';
import type { KnownFacts } from '../../client/facts.ts';
import { follow } from '../../client/follow.ts';
import { checkMessage } from '../../client/message.ts';
import { requestCompaction } from '../../client/send.ts';
import { decide, interrupt, sendMessage } from '../../client/send.ts';
import type { Service } from '../../client/service.ts';
import { SessionView } from '../../client/sessionView.ts';
import { newMessageId } from '../../client/ids.ts';
import type { SessionEvent } from '../../domain/event.ts';
import { Progress } from '../../ui/progress.ts';
import { approvalQuestion } from '../../ui/question.ts';
import { oneLine, printable } from '../../ui/text.ts';
import type { Begun } from '../begin.ts';
import type { Context } from '../context.ts';
import { Input } from './input.ts';
import { goalLines } from './goal.ts';
import { readWords, HELP } from './words.ts';

export interface ChatOptions {
  /** The session to go on in; absent: the first message makes one with `begin`. */
  session?: { session_id: string; facts: KnownFacts };
  begin: (text: string) => Promise<Begun>;
  /** Sent at once. */
  first?: string | undefined;
  by: string;
}

/** Resolves with the exit code when the person leaves, or when a piped input is done. */
export async function chatLoop(context: Context, service: Service, options: ChatOptions): Promise<ExitCode> {
  const chat = new Chat(context, service, options);
  return chat.run();
}

class Chat {
  readonly #screen;
  readonly #service: Service;
  readonly #options: ChatOptions;
  readonly #progress: Progress;
  readonly #view: SessionView;
  readonly #input: Input;
  readonly #stop = new AbortController();
  readonly #own = new Set<string>();
  readonly #done = Promise.withResolvers<ExitCode>();
  /** Of a pipe: taken one by one, each when the session has come to rest. */
  readonly #waiting: string[] = [];
  #session_id: string | null = null;
  #busy = false;
  #ended = false;
  #interrupts = 0;

  constructor({ screen }: Context, service: Service, options: ChatOptions) {
    this.#screen = screen;
    this.#service = service;
    this.#options = options;
    this.#progress = new Progress(screen, { chat: true, asks: screen.terminal.interactive });
    this.#view = new SessionView(options.session?.facts);
    this.#input = new Input(screen, {
      onMessage: (text) => this.#typed(text),
      onInterrupt: (empty) => this.#interrupt(empty),
      onEnd: () => {
        this.#ended = true;
        this.#settle();
      },
    });
  }

  async run(): Promise<ExitCode> {
    const { session, first } = this.#options;
    if (session !== undefined) this.#follow(session.session_id, session.facts.last_seq + 1);
    if (first !== undefined) this.#typed(first);
    this.#settle();
    try {
      return await this.#done.promise;
    } finally {
      this.#stop.abort();
      this.#input.close();
    }
  }

  #typed(text: string): void {
    this.#interrupts = 0;
    this.#waiting.push(text);
    this.#settle();
  }

  /** Takes what waits, asks what is to be asked, or ends. */
  #settle(): void {
    if (this.#busy) return;
    const { interactive } = this.#screen.terminal;
    const rest = this.#view.idle || this.#view.pending.size > 0;
    const [text] = rest || interactive ? this.#waiting : [];
    if (text !== undefined) {
      this.#waiting.shift();
      this.#busy = true;
      void this.#takeSafely(text);
    } else if (this.#ended && (rest || interactive)) this.#leave();
    else this.#input.want(this.#prompt());
  }

  async #takeSafely(text: string): Promise<void> {
    try {
      await this.#take(text);
    } catch (error) {
      this.#sayError(error);
    }
    this.#busy = false;
    this.#settle();
  }

  /** None while a run goes on: its lines would only push it along. */
  #prompt(): string | null {
    const [call] = this.#view.pending.values();
    if (call !== undefined) return approvalQuestion(call, this.#screen.terminal.columns, '[y, n, n REASON]');
    return this.#view.idle ? '> ' : null;
  }

  async #take(text: string): Promise<void> {
    const words = readWords(text, this.#view.pending.size > 0);
    switch (words.kind) {
      case 'nothing':
        return;
      case 'help':
        this.#screen.print(HELP);
        return;
      case 'exit':
        this.#leave();
        return;
      case 'interrupt':
        this.#interrupt(true);
        return;
      case 'unknown':
        this.#screen.print(words.message);
        return;
      case 'goal':
        await this.#goal(words.words);
        return;
      case 'compact':
        await requestCompaction(this.#service, this.#begun(), this.#options.by);
        return;
      case 'decide':
        await this.#decide(words.decision, words.reason);
        return;
      case 'message':
        await this.#send(words.text, words.delivery);
    }
  }

  async #goal(words: string[]): Promise<void> {
    const { styles } = this.#screen;
    for (const line of await goalLines(this.#service, this.#begun(), { words, styles, by: this.#options.by }))
      this.#screen.print(line);
  }

  #begun(): string {
    if (this.#session_id !== null) return this.#session_id;
    throw new HoldfastError(
      'session.none',
      'Expected a session, found none yet.',
      'The first message makes one.',
    );
  }

  async #decide(decision: 'approve' | 'deny', reason: string): Promise<void> {
    const [call] = this.#view.pending.values();
    if (call === undefined || this.#session_id === null) return;
    const { call_id } = call;
    await decide(this.#service, this.#session_id, { call_id, decision, by: this.#options.by, reason });
    this.#view.pending.delete(call_id);
  }

  async #send(text: string, delivery: 'queue' | 'steer'): Promise<void> {
    checkMessage(text);
    if (this.#session_id === null) {
      const begun = await this.#options.begin(text);
      this.#own.add(begun.message_id);
      this.#view.queued = 1; // counted when its event comes; until then it must not look idle
      this.#follow(begun.session_id, begun.from, begun.message_id);
      return;
    }
    const message_id = newMessageId();
    this.#own.add(message_id);
    await sendMessage(this.#service, this.#session_id, { text, message_id, delivery });
    if (delivery === 'queue') {
      this.#view.queued += 1;
      this.#counted.add(message_id);
    }
  }

  /** Messages that the view counts already, before their events have come. */
  readonly #counted = new Set<string>();

  #follow(session_id: string, from: number, counted?: string): void {
    this.#session_id = session_id;
    if (counted !== undefined) this.#counted.add(counted);
    void this.#watch(session_id, from);
  }

  async #watch(session_id: string, from: number): Promise<void> {
    try {
      const end = await this.#followTo(session_id, from);
      if (end !== 'closed') return;
      this.#screen.print(`Session ${session_id} was archived. holdfast resume ${session_id} opens it again.`);
      this.#done.resolve(EXIT.done);
    } catch (error) {
      this.#done.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async #followTo(session_id: string, from: number): Promise<'closed' | 'aborted'> {
    return follow(this.#service, session_id, {
      from,
      signal: this.#stop.signal,
      onEvent: (event) => this.#event(event),
      onCaughtUp: () => this.#settle(),
      onDelta: (delta) => this.#progress.delta(delta),
      onConnection: (change) => this.#progress.connection(change),
    });
  }

  #event(event: SessionEvent): void {
    if (event.type === 'user_message') {
      if (!this.#own.has(event.message_id))
        this.#screen.print(this.#screen.styles.bold(`> ${printable(event.text)}`));
      if (this.#counted.delete(event.message_id)) return;
    }
    this.#view.take(event);
    this.#progress.event(event);
    if (event.type === 'run_finished') {
      this.#interrupts = 0;
      const { error } = event;
      if (error !== null)
        this.#screen.print(
          this.#screen.styles.bad(`! ${oneLine(error.message)}\n  ${oneLine(error.remedy)}`),
        );
    }
  }

  #interrupt(empty: boolean): void {
    if (!empty) return;
    this.#interrupts += 1;
    if (this.#view.running && this.#session_id !== null && this.#interrupts === 1) {
      this.#screen.print(
        this.#screen.styles.warn('! interrupting; Ctrl+C again detaches and leaves the rest to the session'),
      );
      interrupt(this.#service, this.#session_id, this.#options.by).catch((error: unknown) =>
        this.#sayError(error),
      );
    } else if (this.#interrupts === 1) this.#screen.print('Ctrl+C again, or Ctrl+D, leaves.');
    else this.#leave(this.#view.running ? EXIT.detached : EXIT.done);
  }

  #leave(code?: ExitCode): void {
    if (this.#session_id !== null) {
      const rest = this.#view.running ? ' It goes on by itself.' : '';
      this.#screen.note(
        this.#screen.styles.dim(
          `session ${this.#session_id}, go on with: holdfast resume ${this.#session_id}${rest}`,
        ),
      );
    }
    this.#done.resolve(code ?? this.#exitCode());
  }

  /** A person has seen how it went; a script has to be told. */
  #exitCode(): ExitCode {
    if (this.#screen.terminal.interactive) return EXIT.done;
    if (this.#view.pending.size > 0) return EXIT.waitingForPerson;
    return this.#view.outcome?.exit_code ?? EXIT.done;
  }

  #sayError(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.#screen.terminal.interactive) {
      const remedy = error instanceof HoldfastError ? `\n  ${error.remedy}` : '';
      this.#screen.print(this.#screen.styles.bad(`! ${message}${remedy}`));
    } else this.#done.reject(error instanceof Error ? error : new Error(message));
  }
}
