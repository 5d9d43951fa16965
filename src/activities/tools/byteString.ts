/**
 * Bytes as a string with one character (U+0000 to U+00FF) for each byte: string search and slicing are then
 * exact on bytes, whatever the file's encoding is, and nothing is decoded.
 */

/** A file's bytes. */
export function bytesToString(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Text of a model, in the bytes that it has as UTF-8. */
export function textToByteString(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Back to bytes. */
export function stringToBytes(byteString: string): Buffer {
  return Buffer.from(byteString, 'latin1');
}

/** A byte string as the text that a model is shown. */
export function byteStringToText(byteString: string): string {
  return stringToBytes(byteString).toString('utf8');
}

/** The lines, each with its `\n`; the last one may have none. An empty string has no lines. */
export function linesWithEnds(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The number, from 1, of the line that `offset` is in. */
export function lineNumberAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
