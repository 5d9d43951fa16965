/** The bytes of a response as text, with a watch on silence and a bound on their number. */
import { ModelCallError } from './callError.ts';

/** All bytes of one response. A reply at its own bounds is a few percent of it. */
const RESPONSE_MAX_BYTES = 256 * 1024 * 1024;
/** What may still come after the reply is whole, so that the connection can be used again. */
const DRAIN_MAX_MS = 1_000;

/** Fires when nobody has touched it for some time. */
export class StallWatch {
  #timer: NodeJS.Timeout;
  readonly #ms: number;
  readonly #onStall: () => void;

  constructor(ms: number, onStall: () => void) {
    this.#ms = ms;
    this.#onStall = onStall;
    this.#timer = setTimeout(onStall, ms);
  }

  touch(): void {
    this.#timer.refresh();
  }

  /** From now on `ms` of silence is a stall, if that is less than before. */
  shorten(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onStall, Math.min(ms, this.#ms));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * Decodes a body piece by piece; `onBytes` is called at each. A reader that leaves early does not cut the
 * connection: the rest is read aside, so that the next call finds it open.
 */
export async function* responseTexts(response: Response, onBytes: () => void): AsyncGenerator<string> {
  if (response.body === null) return;
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await readPiece(reader);
      if (done) break;
      onBytes();
      bytes += value.byteLength;
      if (bytes > RESPONSE_MAX_BYTES) {
        throw new ModelCallError('malformed', `The reply is longer than ${RESPONSE_MAX_BYTES} bytes.`);
      }
      yield decoder.decode(value, { stream: true });
    }
    ended = true;
    yield decoder.decode();
  } finally {
    if (!ended) void drain(reader, bytes > RESPONSE_MAX_BYTES ? 0 : DRAIN_MAX_MS);
  }
}

async function readPiece(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<{ done: true; value: undefined } | { done: false; value: Uint8Array }> {
  try {
    const { done, value } = await reader.read();
    return done || value === undefined ? { done: true, value: undefined } : { done: false, value };
  } catch (error) {
    throw new ModelCallError('broken', "The connection broke in the middle of the model's reply.", {
      cause: error,
    });
  }
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, ms: number): Promise<void> {
  // A read that outlives the timer ends by the cancel, and one on a broken connection rejects: either way
  // the reply is complete or its failure is known, so nothing here is worth an error.
  const cancel = () => reader.cancel().catch(() => undefined);
  const timer = setTimeout(() => void cancel(), ms);
  try {
    while (!(await reader.read()).done);
  } catch {
    await cancel();
  } finally {
    clearTimeout(timer);
  }
}
