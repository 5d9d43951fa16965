/** Where output goes: answers and documents to stdout, everything else to stderr, never in one another's line. */
import { stylesFor, type Styles } from './style.ts';
import type { Terminal } from './terminal.ts';

export class Screen {
  readonly terminal: Terminal;
  readonly styles: Styles;
  /** stdout's last character was no line end. */
  #open = false;
  /** A prompt below the output, which has to step aside. */
  #prompt: { hide: () => void; show: () => void } | null = null;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
    this.styles = stylesFor(terminal.color);
  }

  /** To stdout, as it is. */
  write(text: string): void {
    if (text === '') return;
    this.#beside(() => process.stdout.write(text), !text.endsWith('\n'));
  }

  /** Ends stdout's line if it is open. */
  endLine(): void {
    if (this.#open) this.write('\n');
  }

  /** A line to stdout. */
  print(line: string): void {
    this.endLine();
    this.write(`${line}\n`);
  }

  /** One JSON document, or one line of JSONL, to stdout. */
  json(value: unknown): void {
    this.write(`${JSON.stringify(value)}\n`);
  }

  /** A line to stderr. */
  note(line: string): void {
    if (this.terminal.live) this.endLine();
    this.#beside(() => process.stderr.write(`${line}\n`), this.#open);
  }

  /** Keeps a prompt out of the way of what is written from now on; null: there is none any more. */
  yieldTo(prompt: { hide: () => void; show: () => void } | null): void {
    this.#prompt = prompt;
  }

  #beside(write: () => void, open: boolean): void {
    this.#prompt?.hide();
    write();
    this.#open = open;
    // In the middle of a streamed line there is no place for a prompt.
    if (!open) this.#prompt?.show();
  }
}
