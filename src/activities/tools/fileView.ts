/** One pass over a file of any size: its version and measures, and the lines that are wanted. */
import { createHash } from 'node:crypto';
import { takeStart } from './utf8.ts';

/** A longer line is cut; a file of one line of 50 MB is one of these. */
export const LINE_SHOWN_MAX_BYTES = 2_000;

const BINARY_LOOK_BYTES = 8 * 1024;
const LF = 0x0a;
const CR = 0x0d;

/** A line that is wanted: its first bytes, end included, and its size. */
interface KeptLine {
  bytes: Buffer;
  size: number;
}

export interface FileView {
  version: string;
  bytes: number;
  /** A last line without `\n` counts. */
  lines: number;
  crlf_lines: number;
  ends_with_newline: boolean;
  /** The first bytes, by which binary files are known. */
  start: Buffer;
  /** From the first wanted line on, at most as many as were wanted and fit. */
  kept: KeptLine[];
}

/** What is wanted of the file: lines counted from 1. */
export interface Wanted {
  first_line: number;
  lines: number;
  /** Bytes of lines that are kept, a last line more. */
  max_bytes: number;
}

/** Reads all of the chunks. */
export async function viewFile(chunks: AsyncIterable<Buffer>, wanted: Wanted): Promise<FileView> {
  const hash = createHash('sha256');
  const keeper = new LineKeeper(wanted);
  let bytes = 0;
  let start = Buffer.alloc(0);
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
    if (start.length < BINARY_LOOK_BYTES)
      start = Buffer.concat([start, chunk.subarray(0, BINARY_LOOK_BYTES - start.length)]);
    keeper.take(chunk);
  }
  return { version: hash.digest('hex'), bytes, start, ...keeper.finish() };
}

/** Whether a file is to be described and not shown. */
export function isBinary({ start }: FileView): boolean {
  return start.includes(0);
}

/** A line as it is shown; a clipped one says how much is missing. */
export function lineText({ bytes, size }: KeptLine): { text: string; clipped: boolean } {
  if (size <= LINE_SHOWN_MAX_BYTES)
    return { text: takeStart(bytes, 0, Number.MAX_SAFE_INTEGER).text, clipped: false };
  const { text, end } = takeStart(bytes, 0, LINE_SHOWN_MAX_BYTES);
  return { text: `${text}[… ${size - end} more bytes of this line are not shown]\n`, clipped: true };
}

class LineKeeper {
  readonly #wanted: Wanted;
  readonly #kept: KeptLine[] = [];
  #keptBytes = 0;
  #line = 1;
  #lineBytes = 0;
  #crlf = 0;
  #last = LF;

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  take(chunk: Buffer): void {
    for (let from = 0; from < chunk.length; ) {
      const at = chunk.indexOf(LF, from);
      const end = at === -1 ? chunk.length : at + 1;
      this.#takePiece(chunk.subarray(from, end));
      if (at !== -1) {
        if ((at > 0 ? chunk[at - 1] : this.#last) === CR) this.#crlf += 1;
        this.#line += 1;
        this.#lineBytes = 0;
      }
      from = end;
    }
    this.#last = chunk.at(-1) ?? this.#last;
  }

  finish(): Pick<FileView, 'lines' | 'crlf_lines' | 'ends_with_newline' | 'kept'> {
    return {
      lines: this.#lineBytes > 0 ? this.#line : this.#line - 1,
      crlf_lines: this.#crlf,
      ends_with_newline: this.#line > 1 && this.#lineBytes === 0,
      kept: this.#kept,
    };
  }

  #takePiece(piece: Buffer): void {
    const index = this.#line - this.#wanted.first_line;
    const begins = this.#lineBytes === 0;
    this.#lineBytes += piece.length;
    if (index < 0 || index >= this.#wanted.lines) return;
    if (begins) {
      if (this.#keptBytes > this.#wanted.max_bytes) return;
      this.#kept.push({ bytes: Buffer.alloc(0), size: 0 });
    }
    const line = this.#kept[index];
    if (line) this.#extend(line, piece);
  }

  /** The chunk is used again by the reader, so what is kept is copied. */
  #extend(line: KeptLine, piece: Buffer): void {
    const room = LINE_SHOWN_MAX_BYTES + 4 - line.bytes.length;
    line.size += piece.length;
    if (room <= 0) return;
    const part = piece.subarray(0, room);
    line.bytes = Buffer.concat([line.bytes, part]);
    this.#keptBytes += part.length;
  }
}
