/** What the killer means to do, strike by strike: drawn from the seed alone. */
import type { FaultPoint } from '../../src/host/faults.ts';
import { Random } from '../random.ts';

/** Who is struck. `everything`: supervisor, server and worker in the same moment. */
export type Target = 'worker' | 'server' | 'supervisor' | 'worker and server' | 'everything' | 'runner';

/** `freeze`: SIGSTOP, and SIGCONT later than the heartbeat time-out. */
export type How = 'kill' | 'freeze';

export interface Strike {
  number: number;
  target: Target;
  how: How;
  /** The worker strikes itself when it reaches this point; without it, it is struck from outside. */
  point: FaultPoint | undefined;
  /** From the last strike, or from the installation's being ready again, to this one. */
  pause_ms: number;
  /** Does not wait until the installation is ready again: so that what starts is struck too. */
  impatient: boolean;
  /** Which of the living runners, from 0 to below 1. */
  choice: number;
  /** When the supervisor was killed: after this the user gives the next command. */
  absence_ms: number;
  /** Of a freeze. */
  freeze_ms: number;
}

export const POINTS = [
  'before_intent',
  'after_intent',
  'after_gate',
  'after_spawn',
  'before_report',
  'after_receipt',
  'after_archive',
] as const satisfies FaultPoint[];

const WEIGHTS: readonly { weight: number; value: Pick<Strike, 'target' | 'how'> & { planted?: true } }[] = [
  { weight: 20, value: { target: 'worker', how: 'kill' } },
  { weight: 32, value: { target: 'worker', how: 'kill', planted: true } },
  { weight: 28, value: { target: 'runner', how: 'kill' } },
  { weight: 7, value: { target: 'server', how: 'kill' } },
  { weight: 4, value: { target: 'supervisor', how: 'kill' } },
  { weight: 3, value: { target: 'worker and server', how: 'kill' } },
  { weight: 4, value: { target: 'everything', how: 'kill' } },
  { weight: 0.8, value: { target: 'worker', how: 'freeze' } },
  { weight: 0.5, value: { target: 'worker', how: 'freeze', planted: true } },
  { weight: 0.2, value: { target: 'server', how: 'freeze' } },
  { weight: 0.5, value: { target: 'runner', how: 'freeze' } },
];

/** Strikes without end; the same seed gives the same. */
export function* plannedStrikes(seed: string): Generator<Strike, never> {
  for (let number = 1; ; number += 1) {
    const random = new Random(seed, 'strike', number);
    const { target, how, planted } = random.weighted(WEIGHTS);
    yield {
      number,
      target,
      how,
      point: planted === true ? random.pick(POINTS) : undefined,
      pause_ms: random.int(50, target === 'runner' ? 700 : 1_500),
      impatient: random.chance(0.1),
      choice: random.next(),
      absence_ms: random.int(100, 1_200),
      freeze_ms: target === 'runner' ? random.int(500, 3_000) : random.int(11_000, 13_500),
    };
  }
}
