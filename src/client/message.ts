/** What a message must be before it is sent. */
import { MESSAGE_ID_MAX_CHARS, MESSAGE_MAX_BYTES } from '../domain/limits.ts';
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

/** Throws a HoldfastError for an id that would make two messages one, or that the session could not keep. */
export function checkMessageId(message_id: string): void {
  if (message_id !== '' && message_id.length <= MESSAGE_ID_MAX_CHARS) return;
  throw new HoldfastError(
    'message.id',
    `Expected a message id of 1 to ${MESSAGE_ID_MAX_CHARS} characters, found ${message_id.length}.`,
    'Give each message an id of its own, such as a UUID, or leave `--message-id` out.',
  );
}
