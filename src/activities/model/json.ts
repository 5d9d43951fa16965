/** Reading JSON that a stranger wrote: each function takes anything and gives what it says. */

export type JsonRecord = Record<string, unknown>;

/** An object, or an empty one. */
export function asRecord(value: unknown): JsonRecord {
  return typeof value === 'object' && value !== null ? (value as JsonRecord) : {};
}

/** A list, or an empty one. */
export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string, or an empty one. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A count: a finite number of at least 0, or 0. */
export function asCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}
