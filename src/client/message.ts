/** What a message must be before it is sent. */
import { MESSAGE_MAX_BYTES } from '../domain/limits.ts';
import { HoldfastError } from './errors.ts';

/** Throws a HoldfastError when `text` is empty or larger than MESSAGE_MAX_BYTES. */
export function checkMessage(text: string): void {
  if (text.trim() === '') {
    throw new HoldfastError(
      'message.empty',
      'Expected a message, found nothing.',
      'Write what is to be done, or `-` to read it from stdin.',
    );
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= MESSAGE_MAX_BYTES) return;
  throw new HoldfastError(
    'message.too_large',
    `Expected a message of at most ${MESSAGE_MAX_BYTES} bytes, found ${bytes}.`,
    'Put the long part into a file of the workspace and name the file in the message.',
  );
}
