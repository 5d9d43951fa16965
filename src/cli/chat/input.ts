/** What the person types, message by message. */
import { clearScreenDown, createInterface, cursorTo, type Interface } from 'node:readline';
import type { Screen } from '../../ui/screen.ts';

/** Lines that arrive together were pasted: they are one message. */
const PASTE_GAP_MS = 30;

export interface InputHandlers {
  onMessage: (text: string) => void;
  /** Ctrl+C; `empty`: nothing was typed that it could mean to delete. */
  onInterrupt: (empty: boolean) => void;
  /** Ctrl+D, or the end of a pipe; every message before it has been told. */
  onEnd: () => void;
}

export class Input {
  readonly #reader: Interface;
  readonly #screen: Screen;
  readonly #handlers: InputHandlers;
  readonly #interactive: boolean;
  #pasted: string[] = [];
  #timer: NodeJS.Timeout | null = null;
  #wanted = false;

  constructor(screen: Screen, handlers: InputHandlers) {
    this.#screen = screen;
    this.#handlers = handlers;
    this.#interactive = screen.terminal.interactive;
    this.#reader = createInterface({
      input: process.stdin,
      output: process.stdout,
      terminal: this.#interactive,
      prompt: '> ',
      historySize: 200,
    });
    this.#reader.on('line', (line) => this.#line(line));
    this.#reader.on('SIGINT', () => this.#interrupt());
    this.#reader.on('close', () => this.#end());
    // A prompt of `-` has read all that there was, and an end that has passed is not told again.
    if (process.stdin.readableEnded) setImmediate(() => this.#end());
    if (this.#interactive) screen.yieldTo({ hide: () => this.#hide(), show: () => this.#show() });
  }

  /** Shows the prompt from now on, or only while something is typed. */
  want(prompt: string | null): void {
    const text = prompt ?? '> ';
    const same = this.#wanted === (prompt !== null) && this.#reader.getPrompt() === text;
    if (same || !this.#interactive) return;
    this.#hide();
    this.#wanted = prompt !== null;
    this.#reader.setPrompt(text);
    this.#screen.endLine();
    this.#show();
  }

  close(): void {
    this.#screen.yieldTo(null);
    if (this.#interactive) this.#hide();
    this.#reader.removeAllListeners('close');
    this.#reader.close();
    process.stdin.unref?.();
  }

  #line(line: string): void {
    if (!this.#interactive) {
      if (line.trim() !== '') this.#handlers.onMessage(line);
      return;
    }
    this.#wanted = false;
    this.#pasted.push(line);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#flush(), PASTE_GAP_MS);
  }

  #flush(): void {
    this.#timer = null;
    const text = this.#pasted.join('\n');
    this.#pasted = [];
    this.#handlers.onMessage(text);
  }

  #interrupt(): void {
    const empty = this.#reader.line === '';
    if (!empty) this.#reader.write(null, { ctrl: true, name: 'u' });
    this.#handlers.onInterrupt(empty);
  }

  #end(): void {
    this.#screen.yieldTo(null);
    if (this.#interactive) clearLine();
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#flush();
    }
    this.#handlers.onEnd();
  }

  #hide(): void {
    if (this.#wanted || this.#reader.line !== '') clearLine();
  }

  #show(): void {
    if (this.#wanted || this.#reader.line !== '') this.#reader.prompt(true);
  }
}

function clearLine(): void {
  cursorTo(process.stdout, 0);
  clearScreenDown(process.stdout);
}
