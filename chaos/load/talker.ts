/** The users: so many sessions at a time, each told its messages as planned, until it is enough. */
import { setTimeout as delay } from 'node:timers/promises';
import { createSession, facts, interrupt, outcomeOfSession, sendMessage } from '../../src/client/index.ts';
import { Random } from '../random.ts';
import type { Stage } from '../stage.ts';
import type { Answers } from './answers.ts';
import { messageId, messagesOf, messageText, type PlannedMessage } from './talk.ts';

/** What was said to one session. */
export interface Told {
  session: number;
  session_id: string;
  sent: { number: number; delivery: 'queue' | 'steer'; at: string }[];
  /** When the user interrupted it. */
  interrupts: string[];
  /** Nothing was left to do when the user looked last. */
  idle: boolean;
}

const LOOK_EVERY_MS = 3_000;
/** A user gives the same command again while the service is away. */
const RETRY_AFTER_MS = 500;
/** A session that is not idle so long after the last strike does not end. */
const PATIENCE_MS = 300_000;

/** Resolves with what was said, when all sessions are idle or their users have lost patience. */
export async function talk(
  stage: Stage,
  answers: Answers,
  { slots, enough }: { slots: number; enough: AbortSignal },
): Promise<Told[]> {
  const told: Told[] = [];
  let next = 0;
  const slot = async (): Promise<void> => {
    while (!enough.aborted) {
      const session = next;
      next += 1;
      told.push(await talkTo(stage, answers, session, enough));
    }
  };
  await Promise.all(Array.from({ length: slots }, slot));
  // Who was struck again and again while others watched gets a quiet time to end in.
  for (const one of told) one.idle ||= await isIdleWithin(stage, one, PATIENCE_MS);
  return told.toSorted((a, b) => a.session - b.session);
}

async function talkTo(stage: Stage, answers: Answers, session: number, enough: AbortSignal): Promise<Told> {
  const [first, ...more] = messagesOf(stage.seed, session);
  await stage.prepare(session);
  const told: Told = { session, session_id: '', sent: [], interrupts: [], idle: false };
  told.session_id = await begin(stage, session);
  noteSent(told, 0, 'queue');
  if (first !== undefined) interruptLater(stage, told, first);
  for (const message of more) {
    if (message.when === 'after') await answered(stage, answers, told);
    await delay(message.pause_ms);
    if (enough.aborted) break;
    await send(stage, told, message);
  }
  told.idle = await isIdleWithin(stage, told, PATIENCE_MS);
  return told;
}

async function begin(stage: Stage, session: number): Promise<string> {
  const random = new Random(stage.seed, 'session', session);
  const roll_over = random.chance(0.85) ? { history_events: random.int(60, 150) } : undefined;
  const sent = await persistently(async () =>
    createSession(stage.service, {
      user_id: 'chaos',
      workspace: { host: stage.host, path: stage.workspaceOf(session) },
      settings: {
        model: 'scripted',
        api: session % 2 === 0 ? 'chat' : 'responses',
        base_url: stage.modelUrl,
        approval: 'auto',
        on_interrupt: 'continue',
      },
      text: messageText(session, 0),
      message_id: messageId(session, 0),
      ...(roll_over && { roll_over }),
    }),
  );
  return sent.session_id;
}

async function send(stage: Stage, told: Told, message: PlannedMessage): Promise<void> {
  const { number } = message;
  const delivery = message.when === 'steer' ? 'steer' : 'queue';
  const { session, session_id } = told;
  await persistently(async () =>
    sendMessage(stage.service, session_id, {
      text: messageText(session, number),
      message_id: messageId(session, number),
      delivery,
    }),
  );
  noteSent(told, number, delivery);
  interruptLater(stage, told, message);
}

function noteSent(told: Told, number: number, delivery: 'queue' | 'steer'): void {
  told.sent.push({ number, delivery, at: new Date().toISOString() });
}

function interruptLater(stage: Stage, told: Told, { interrupt_after_ms }: PlannedMessage): void {
  if (interrupt_after_ms === undefined) return;
  setTimeout(() => {
    told.interrupts.push(new Date().toISOString());
    // A user whose interrupt does not get through leaves it at that.
    interrupt(stage.service, told.session_id, 'chaos').catch(() => {});
  }, interrupt_after_ms);
}

/** Until all that was said is answered, or the session has nothing to do any more. */
async function answered(stage: Stage, answers: Answers, told: Told): Promise<void> {
  const last = told.sent.at(-1)?.number ?? 0;
  const give_up = performance.now() + PATIENCE_MS;
  while (performance.now() < give_up) {
    if (await answers.has(told.session, last, LOOK_EVERY_MS)) return;
    if (await isIdle(stage, told)) return;
  }
}

async function isIdleWithin(stage: Stage, told: Told, patience_ms: number): Promise<boolean> {
  const give_up = performance.now() + patience_ms;
  do {
    if (await isIdle(stage, told)) return true;
    await delay(RETRY_AFTER_MS);
  } while (performance.now() < give_up);
  return false;
}

async function isIdle(stage: Stage, told: Told): Promise<boolean> {
  const known = await facts(stage.service, told.session_id).catch(() => undefined);
  return known !== undefined && outcomeOfSession(known) !== undefined;
}

async function persistently<T>(work: () => Promise<T>): Promise<T> {
  const give_up = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > give_up) throw error;
      await delay(RETRY_AFTER_MS);
    }
  }
}
