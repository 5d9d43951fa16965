/**
 * The scripted model: it looks at the conversation alone, so it goes on from wherever a kill has left a
 * session. It works through the calls of each message that it was sent, each call once, and then answers.
 */
import type { Script } from '../../src/demo/scriptedModel.ts';
import type { SeenRequest } from '../../src/demo/scriptedRequest.ts';
import { callTools, say, type ScriptedTurn, type TurnOptions } from '../../src/demo/scriptedTurns.ts';
import { Random } from '../random.ts';
import type { CallSurroundings } from './calls.ts';
import type { Observations } from './observations.ts';
import { readMessage } from './talk.ts';
import { stepsFor, type Step } from './tasks.ts';

export interface ModelOptions {
  seed: string;
  observations: Observations;
  surroundings: (session: number, message: number) => CallSurroundings;
  /** The model has answered these messages of a session. */
  onAnswer: (session: number, messages: number[]) => void;
}

/** What `answerText` begins with. */
export const ANSWER = 'answered:';

export function chaosModel({ seed, observations, surroundings, onAnswer }: ModelOptions): Script {
  return (request) => {
    const messages = messagesIn(request);
    const session = messages[0]?.session;
    if (session === undefined) return say('Expected a message of the chaos run, found none.');
    observations.note(session, request);
    const manner = mannerOf(seed, session, request);
    const numbers = messages.map(({ number }) => number);
    const step = nextStep(
      request,
      numbers.flatMap((number) => stepsFor(seed, surroundings(session, number))),
    );
    if (step !== undefined) return callsOf(step, request, manner);
    const unanswered = numbers.filter((number) => !answeredIn(request).has(number));
    onAnswer(session, unanswered);
    return say(`${ANSWER} ${unanswered.join(' ')}`, manner);
  };
}

/** The messages that an answer names. */
export function answeredBy(text: string): number[] {
  return text.startsWith(ANSWER) ? text.slice(ANSWER.length).trim().split(' ').map(Number) : [];
}

function messagesIn(request: SeenRequest): { session: number; number: number }[] {
  return request.messages
    .filter(({ role }) => role === 'user')
    .map(({ text }) => readMessage(text))
    .filter((message) => message !== undefined);
}

function answeredIn(request: SeenRequest): Set<number> {
  const answers = request.messages.filter(({ role }) => role === 'assistant');
  return new Set(answers.flatMap(({ text }) => answeredBy(text)));
}

/** The first calls that were not asked for yet. */
function nextStep(request: SeenRequest, steps: Step[]): Step | undefined {
  const asked = new Set(request.messages.flatMap(({ calls }) => calls.map((call) => call.call_id)));
  return steps.find((step) => step.some(({ call_id }) => !asked.has(call_id)));
}

function callsOf(step: Step, request: SeenRequest, manner: TurnOptions): ScriptedTurn {
  const calls = step.map(({ tool, call_id, args }) => ({ tool, call_id, args: args(request.toolResults) }));
  return callTools(calls, manner);
}

/** Some replies take their time to begin, some come in pieces: so that kills fall into them. */
function mannerOf(seed: string, session: number, request: SeenRequest): TurnOptions {
  const random = new Random(seed, 'manner', session, request.messages.length);
  return {
    first_byte_ms: random.chance(0.3) ? random.int(100, 1_200) : random.int(0, 40),
    ...(random.chance(0.2) ? { chunk_chars: 20, chunk_delay_ms: 15 } : {}),
  };
}
