/** The words for times, signals and processes that results and evidence share. */
import { constants } from 'node:os';
import type { ProcessEntry } from './processes.ts';

const PROCESSES_NAMED = 20;
const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

/** `0.42 s`, `12.3 s`, `754 s`. */
export function secondsOf(ms: number): string {
  const decimals = ms < 10_000 ? 2 : Number(ms < 100_000);
  return `${(ms / 1000).toFixed(decimals)} s`;
}

/** `exit code 3`; a shell's 128 + n is explained, since a shell can't tell it from an `exit 143`. */
export function exitWords(code: number): string {
  const signal = SIGNAL_NAMES.get(code - 128);
  return signal === undefined ? `exit code ${code}` : `exit code ${code} (128 + ${code - 128}: ${signal})`;
}

/** `123 (sleep), 124 (node)`; of many the first, and how many more. */
export function processWords(entries: ProcessEntry[]): string {
  const named = entries.slice(0, PROCESSES_NAMED).map(({ pid, name }) => `${pid} (${name.slice(0, 60)})`);
  const more = entries.length - named.length;
  return more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
}
