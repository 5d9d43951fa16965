/**
 * Arithmetic on the times of events. `Date` is a calendar here and never a clock: it turns ISO 8601 into
 * milliseconds and back, which is pure.
 */
/* oxlint-disable no-restricted-globals */

/** Milliseconds from one time to another; never negative, since clocks are set back. */
export function msBetween(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

/** The time so many milliseconds later. */
export function later(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}
