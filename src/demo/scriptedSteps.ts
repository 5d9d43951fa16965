/** Scripts that look at the conversation alone, so that they serve many sessions and survive kills. */
import type { Script } from './scriptedModel.ts';
import type { SeenRequest } from './scriptedRequest.ts';
import { say, type ScriptedTurn } from './scriptedTurns.ts';

/** A turn, or how to make it from the request (its `resultsOfTurn`, say). */
export type ScriptedStep = ScriptedTurn | ((request: SeenRequest) => ScriptedTurn | Promise<ScriptedTurn>);

export interface ScriptedConversation {
  /** A part of the user message that it answers. */
  when: string | RegExp;
  steps: ScriptedStep[];
}

/** Answers each user message with the same steps: one step for each model call after that message. */
export function scriptByStep(steps: ScriptedStep[]): Script {
  return (request) => perform(steps[request.step], request);
}

/** Answers by the user's message: the first conversation that matches, else `otherwise`. */
export function scriptByText(
  conversations: ScriptedConversation[],
  otherwise: ScriptedStep[] = [(request) => say(`The script knows no answer to: ${request.lastUserText}`)],
): Script {
  return (request) => {
    const found = conversations.find(({ when }) =>
      typeof when === 'string' ? request.lastUserText.includes(when) : when.test(request.lastUserText),
    );
    return perform((found?.steps ?? otherwise)[request.step], request);
  };
}

async function perform(step: ScriptedStep | undefined, request: SeenRequest): Promise<ScriptedTurn> {
  if (step === undefined) return say(`The script has no step ${request.step + 1} for this message.`);
  return typeof step === 'function' ? step(request) : step;
}
