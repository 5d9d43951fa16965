/** What the terminal can do, decided once for each command. */

import { isatty } from 'node:tty';

export interface Terminal {
  color: boolean;
  /** Of a line, at least MIN_COLUMNS. */
  columns: number;
  /** Both ends are a terminal: a person reads, and may be asked. */
  interactive: boolean;
  /** stdout is a terminal: an answer may be written as it comes. */
  live: boolean;
}

const DEFAULT_COLUMNS = 80;
const MIN_COLUMNS = 20;

/** The terminal of this process. `color: false` is `--no-color`. */
export function detectTerminal(env: NodeJS.ProcessEnv, { color = true } = {}): Terminal {
  const live = isatty(1);
  const columns =
    process.stdout.columns ?? process.stderr.columns ?? (Number(env['COLUMNS']) || DEFAULT_COLUMNS);
  return {
    color: color && live && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    columns: Math.max(MIN_COLUMNS, columns),
    interactive: live && isatty(0),
    live,
  };
}
