/** Ids that a client draws. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const SESSION_ID_CHARS = 12;
/** The largest multiple of the alphabet's size that a byte can hold: bytes from here on would favour some letters. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

/** A new session's id: 12 letters and digits, 62 bits. */
export function newSessionId(): string {
  let id = '';
  while (id.length < SESSION_ID_CHARS) {
    id += lettersOf(randomBytes(SESSION_ID_CHARS));
  }
  return id.slice(0, SESSION_ID_CHARS);
}

/**
 * The session that a first message with this id makes: the same id from the same user in the same folder
 * means the same session, so that a script that is run again does not begin a second one.
 */
export function sessionIdForMessage(parts: { message_id: string; user_id: string; path: string }): string {
  const text = JSON.stringify([parts.user_id, parts.path, parts.message_id]);
  return lettersOf(createHash('sha512').update(text).digest()).slice(0, SESSION_ID_CHARS);
}

/** A new message's id. */
export function newMessageId(): string {
  return randomUUID();
}

function lettersOf(bytes: Uint8Array): string {
  return [...bytes]
    .filter((byte) => byte < FAIR_BYTES)
    .map((byte) => ALPHABET[byte % ALPHABET.length])
    .join('');
}
