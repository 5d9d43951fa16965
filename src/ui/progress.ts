/** A run as it goes on: one line on stderr for each thing that happened, and the replies as they come. */
import type { EventOf, SessionEvent } from '../domain/event.ts';
import type { ConnectionChange } from '../client/follow.ts';
import type { Delta } from '../client/live.ts';
import { eventLine, type KnownCall } from './eventLine.ts';
import type { Screen } from './screen.ts';
import { clip, oneLine, printable } from './text.ts';

export interface ProgressOptions {
  /** Everything goes to stdout, replies included: the conversation itself is what was asked for. */
  chat?: boolean;
  /** Whoever shows this asks for approvals itself. */
  asks?: boolean;
}

export class Progress {
  readonly #screen: Screen;
  readonly #chat: boolean;
  readonly #asks: boolean;
  readonly #calls = new Map<string, Omit<KnownCall, 'justNamed'>>();
  /** The call whose line was written last. */
  #lastNamed: string | null = null;
  /** What of the reply under way has been written. */
  #streamed: { operation_id: string; text: string } | null = null;
  /** Replies that were written whole: late pieces of them are dropped. */
  #lastReply: string | null = null;

  constructor(screen: Screen, { chat = false, asks = false }: ProgressOptions = {}) {
    this.#screen = screen;
    this.#chat = chat;
    this.#asks = asks;
  }

  /** A piece of a reply; written at once where stdout is a terminal. */
  delta({ operation_id, kind, text }: Delta): void {
    if (kind !== 'text' || !this.#screen.terminal.live || operation_id === this.#lastReply) return;
    if (this.#streamed?.operation_id !== operation_id) {
      this.#screen.endLine();
      this.#streamed = { operation_id, text: '' };
    }
    this.#streamed.text += text;
    this.#screen.write(printable(text));
    this.#lastNamed = null;
  }

  /** The next event, in order. */
  event(event: SessionEvent): void {
    if (event.type === 'assistant_message') {
      this.#reply(event);
      return;
    }
    if (event.type === 'tool_call') {
      this.#calls.set(event.call_id, { tool: event.tool, target: event.target, at: event.at });
    }
    // The time until a person has decided is not the call's.
    const decided = event.type === 'approval_decided' ? this.#calls.get(event.call_id) : undefined;
    if (decided !== undefined) decided.at = event.at;
    // The prompt asks in the same words.
    if (event.type === 'approval_requested' && this.#asks) return;
    this.#note(
      eventLine(event, {
        columns: this.#screen.terminal.columns,
        styles: this.#screen.styles,
        call: (call_id) => this.#known(call_id),
      }),
    );
    if (event.type === 'tool_call') this.#lastNamed = event.call_id;
    if (event.type === 'tool_result') this.#calls.delete(event.call_id);
  }

  /** The connection was lost or is back. */
  connection({ part, reachable }: ConnectionChange): void {
    const { warn, dim } = this.#screen.styles;
    const name = part === 'worker' ? 'worker' : 'server';
    if (!reachable) {
      // A new worker begins the reply again.
      this.#screen.endLine();
      this.#streamed = null;
      this.#note(warn(`~ ${name} lost, waiting for it; nothing is lost`));
    } else this.#note(dim(`~ ${name} is back`));
  }

  #known(call_id: string): KnownCall | undefined {
    const call = this.#calls.get(call_id);
    return call && { ...call, justNamed: call_id === this.#lastNamed };
  }

  #note(line: string | undefined): void {
    if (line === undefined) return;
    if (this.#chat) this.#screen.print(line);
    else this.#screen.note(line);
    this.#lastNamed = null;
  }

  /** Completes what was streamed; without a terminal a reply that is not the answer is progress. */
  #reply(event: EventOf<'assistant_message'>): void {
    this.#lastReply = event.operation_id;
    const written = this.#streamed?.operation_id === event.operation_id ? this.#streamed.text : '';
    this.#streamed = null;
    if (this.#screen.terminal.live || this.#chat) this.#complete(event.text, written);
    else if (event.tool_calls.length > 0 && event.text.trim() !== '') {
      this.#note(clip(oneLine(event.text), this.#screen.terminal.columns));
    }
    for (const note of event.notes ?? []) this.#note(this.#screen.styles.dim(`- ${oneLine(note)}`));
  }

  #complete(text: string, written: string): void {
    const begunAgain = written !== '' && !text.startsWith(written);
    if (begunAgain) {
      this.#screen.endLine();
      this.#note(this.#screen.styles.dim('~ the reply broke off and was made again:'));
    }
    this.#screen.write(printable(begunAgain ? text : text.slice(written.length)));
    this.#screen.endLine();
    if (text !== '') this.#lastNamed = null;
  }
}
