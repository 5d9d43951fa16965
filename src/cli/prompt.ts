/** A prompt from the arguments, or from stdin. */
import { text as readAll } from 'node:stream/consumers';
import { HoldfastError } from '../client/errors.ts';
import { MESSAGE_MAX_BYTES } from '../domain/limits.ts';
import { checkMessage } from '../client/message.ts';

/** The words as one text; a lone `-` is what stdin holds. Rejects when it is empty or too large. */
export async function promptOf(words: string[]): Promise<string> {
  const prompt = words.length === 1 && words[0] === '-' ? await readStdin() : words.join(' ');
  const text = prompt.toWellFormed();
  checkMessage(text);
  return text;
}

async function readStdin(): Promise<string> {
  if (process.stdin.isTTY) {
    throw new HoldfastError(
      'usage',
      'Expected a prompt on stdin for `-`, found a terminal.',
      'Pipe it in, as in `holdfast run - < prompt.md`.',
    );
  }
  const text = await readAll(bounded(process.stdin));
  return text.replace(/\n+$/, '');
}

/** Reads a little more than is allowed, so that the error is about the size and memory is not. */
async function* bounded(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of stream) {
    yield chunk;
    bytes += chunk.length;
    if (bytes > MESSAGE_MAX_BYTES * 2) return;
  }
}
