/**
 * Text that any payload, database and provider takes: well-formed Unicode without NUL, of bounded size.
 * Lone surrogates are refused by Protocol Buffers and by many JSON parsers, NUL by PostgreSQL.
 */

/** Replaces lone surrogates and NUL by U+FFFD. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** `cleanText` for each string of a JSON value, keys included. */
export function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [cleanText(key), cleanJson(item)]));
}

/** Bytes of a value as JSON in UTF-8: what it costs in a payload. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The longest beginning of `text` that costs at most `maxBytes` as JSON, without a pair cut in two. */
export function cutToJsonBytes(text: string, maxBytes: number): string {
  if (jsonBytes(text) <= maxBytes) return text;
  let fits = 0;
  let tooLong = text.length;
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (jsonBytes(text.slice(0, middle)) <= maxBytes) fits = middle;
    else tooLong = middle;
  }
  const cut = text.slice(0, fits);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}
