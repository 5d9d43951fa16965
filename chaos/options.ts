/** The arguments of `npm run chaos`. */
import { parseArgs } from 'node:util';

export interface ChaosOptions {
  /** Kills that are to be delivered. */
  kills: number;
  seed: string;
  /** At work at the same time. */
  sessions: number;
  /** Says each strike on stderr as it happens. */
  verbose: boolean;
}

/** Throws with what was expected. */
export function readOptions(args: string[]): ChaosOptions {
  const { values } = parseArgs({
    args,
    options: {
      kills: { type: 'string', default: '50' },
      seed: { type: 'string', default: '1' },
      sessions: { type: 'string', default: '6' },
      verbose: { type: 'boolean', default: false },
    },
  });
  return {
    kills: whole('--kills', values.kills),
    seed: values.seed,
    sessions: whole('--sessions', values.sessions),
    verbose: values.verbose,
  };
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`Expected a whole number above 0 for ${name}, found ${JSON.stringify(text)}.`);
}
