/** What a user says in each session, and when: drawn from the seed and the session's number. */
import { Random } from '../random.ts';

export interface PlannedMessage {
  number: number;
  /** `after`: when the one before is answered. The others come into its run. */
  when: 'after' | 'queue' | 'steer';
  /** Before it is sent, for what comes into a run. */
  pause_ms: number;
  /** The user interrupts the run so long after this message. */
  interrupt_after_ms: number | undefined;
}

const FEWEST = 4;
const MOST = 10;

/** The messages of one session, in order. The first begins it. */
export function messagesOf(seed: string, session: number): PlannedMessage[] {
  const random = new Random(seed, 'talk', session);
  return Array.from({ length: random.int(FEWEST, MOST) }, (_, number) => ({
    number,
    when: number === 0 ? 'after' : random.weighted(WHEN),
    pause_ms: random.int(100, 3_000),
    interrupt_after_ms: random.chance(0.06) ? random.int(300, 4_000) : undefined,
  }));
}

const WHEN = [
  { weight: 5, value: 'after' },
  { weight: 2, value: 'queue' },
  { weight: 2, value: 'steer' },
] as const;

/** The text of a message; `readMessage` reads it. */
export function messageText(session: number, number: number): string {
  return `chaos session ${session} message ${number}: do what the script says`;
}

/** Which message of which session a text is; undefined for the agent's own blocks. */
export function readMessage(text: string): { session: number; number: number } | undefined {
  const match = /^chaos session (\d+) message (\d+):/.exec(text);
  return match === null ? undefined : { session: Number(match[1]), number: Number(match[2]) };
}

/** The message's id for deduplication. */
export function messageId(session: number, number: number): string {
  return `chaos-${session}-${number}`;
}
