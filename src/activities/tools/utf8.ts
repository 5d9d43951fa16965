/**
 * Any bytes as text that every payload, terminal and model can take: ill-formed UTF-8 becomes U+FFFD, NUL
 * becomes a visible sign, and a cut never falls inside a code point. Sizes are UTF-8 bytes, of the source
 * and of the text apart: a bad byte is 1 byte in the source and 3 in the text.
 */

/** What NUL is shown as: U+2400. */
const NUL_SIGN = '␀';
/** A code point has at most this many bytes. */
export const CODE_POINT_MAX_BYTES = 4;

const REPLACEMENT_BYTES = 3;
const DECODER_OPTIONS = { ignoreBOM: true };

/** A part of the source as text. `start` and `end` are offsets in the source, between code points. */
export interface TextSlice {
  start: number;
  end: number;
  text: string;
}

/** All of `bytes` as clean text. */
export function cleanText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', DECODER_OPTIONS).decode(bytes).replaceAll('\0', NUL_SIGN);
}

/** A string as clean text: lone surrogates and NUL replaced. */
export function cleanString(text: string): string {
  return text.toWellFormed().replaceAll('\0', NUL_SIGN);
}

/** The longest beginning, from offset `start`, whose text has at most `max_text_bytes`. */
export function takeStart(bytes: Uint8Array, start: number, max_text_bytes: number): TextSlice {
  let end = start;
  let room = max_text_bytes;
  while (end < bytes.length) {
    const unit = unitAt(bytes, end);
    if (unit.text_bytes > room) break;
    room -= unit.text_bytes;
    end += unit.length;
  }
  return { start, end, text: cleanText(bytes.subarray(start, end)) };
}

/** The longest end whose text has at most `max_text_bytes`; `bytes` itself may begin inside a code point. */
export function takeEnd(bytes: Uint8Array, max_text_bytes: number): TextSlice {
  const units: { at: number; text_bytes: number }[] = [];
  let total = 0;
  for (let at = firstBoundary(bytes); at < bytes.length; ) {
    const unit = unitAt(bytes, at);
    units.push({ at, text_bytes: unit.text_bytes });
    total += unit.text_bytes;
    at += unit.length;
  }
  const first = units.find((unit) => {
    if (total <= max_text_bytes) return true;
    total -= unit.text_bytes;
    return false;
  });
  const start = first?.at ?? bytes.length;
  return { start, end: bytes.length, text: cleanText(bytes.subarray(start)) };
}

/** Where the code point that covers `offset` begins; `offset` itself where the bytes are not UTF-8. */
export function codePointStart(bytes: Uint8Array, offset: number): number {
  for (let back = 1; back < CODE_POINT_MAX_BYTES && back <= offset; back += 1) {
    const unit = unitAt(bytes, offset - back);
    if (unit.valid && unit.length > back) return offset - back;
  }
  return offset;
}

/** A code point, or the longest ill-formed piece that decoders replace by one U+FFFD (Unicode 3.9, table 3-8). */
interface Unit {
  valid: boolean;
  length: number;
  text_bytes: number;
}

function unitAt(bytes: Uint8Array, at: number): Unit {
  const lead = bytes[at] ?? 0;
  if (lead === 0) return { valid: true, length: 1, text_bytes: REPLACEMENT_BYTES };
  if (lead < 0x80) return { valid: true, length: 1, text_bytes: 1 };
  const following = followingBytes(lead);
  let [low, high] = secondByteRange(lead);
  for (let index = 1; index <= following; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined || byte < low || byte > high)
      return { valid: false, length: index, text_bytes: REPLACEMENT_BYTES };
    [low, high] = [0x80, 0xbf];
  }
  if (following === 0) return { valid: false, length: 1, text_bytes: REPLACEMENT_BYTES };
  return { valid: true, length: following + 1, text_bytes: following + 1 };
}

function followingBytes(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 1;
  if (lead >= 0xe0 && lead <= 0xef) return 2;
  if (lead >= 0xf0 && lead <= 0xf4) return 3;
  return 0;
}

/** Overlong forms, surrogates and what lies above U+10FFFF are excluded by the second byte. */
function secondByteRange(lead: number): [number, number] {
  if (lead === 0xe0) return [0xa0, 0xbf];
  if (lead === 0xed) return [0x80, 0x9f];
  if (lead === 0xf0) return [0x90, 0xbf];
  if (lead === 0xf4) return [0x80, 0x8f];
  return [0x80, 0xbf];
}

function firstBoundary(bytes: Uint8Array): number {
  let at = 0;
  while (at < CODE_POINT_MAX_BYTES - 1 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}
