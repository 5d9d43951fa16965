/** How large a value is as JSON, without a text encoder, which workflows do not have. */

/** At least as many bytes as the value's JSON takes in UTF-8: three for a UTF-16 unit is the most. */
export function jsonBytesAtMost(value: unknown): number {
  return JSON.stringify(value).length * 3;
}
