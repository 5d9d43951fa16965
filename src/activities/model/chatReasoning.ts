/**
 * Reasoning of chat servers. It is shown, never part of the answer's text, and goes back to its maker in
 * the fields in which it came. The items of OpaqueReasoning are
 *   `{message: {reasoning_content: "…"}}`         fields of the assistant message
 *   `{call: 0, fields: {extra_content: {…}}}`     fields of its n-th tool call
 */
import type { ChatCall } from './chatCalls.ts';
import { asList, asRecord, asText, type JsonRecord } from './json.ts';

export interface ChatReasoning {
  /** DeepSeek, llama.cpp, Moonshot, vLLM. */
  reasoning_content: string;
  /** OpenRouter, Ollama, newer vLLM. */
  reasoning: string;
  /** OpenRouter: signed or encrypted pieces. https://openrouter.ai/docs/use-cases/reasoning-tokens */
  reasoning_details: JsonRecord[];
  /** Parts of Mistral's content list; they can't be given back. */
  shown: string;
}

export const NO_REASONING: ChatReasoning = {
  reasoning_content: '',
  reasoning: '',
  reasoning_details: [],
  shown: '',
};

/** The reasoning after one more delta; `shown` is what came in its content. */
export function foldReasoning(state: ChatReasoning, delta: JsonRecord, shown: string): ChatReasoning {
  return {
    reasoning_content: state.reasoning_content + asText(delta['reasoning_content']),
    reasoning: state.reasoning + asText(delta['reasoning']),
    reasoning_details: asList(delta['reasoning_details'])
      .map(asRecord)
      .reduce(joinDetail, state.reasoning_details),
    shown: state.shown + shown,
  };
}

/** What is kept for the next request. */
export function chatReasoningItems(state: ChatReasoning, calls: ChatCall[]): unknown[] {
  const { reasoning_content, reasoning, reasoning_details } = state;
  const message = {
    ...(reasoning_content === '' ? {} : { reasoning_content }),
    // The details say the same, signed.
    ...(reasoning === '' || reasoning_details.length > 0 ? {} : { reasoning }),
    ...(reasoning_details.length === 0 ? {} : { reasoning_details }),
  };
  const extras = calls.flatMap(({ extra }, call) =>
    extra === undefined ? [] : [{ call, fields: { extra_content: extra } }],
  );
  return [...(Object.keys(message).length === 0 ? [] : [{ message }]), ...extras];
}

/** Pieces of one detail share its type and index, and their texts are one text. */
function joinDetail(details: JsonRecord[], piece: JsonRecord): JsonRecord[] {
  const last = details.at(-1);
  const same = last !== undefined && last['type'] === piece['type'] && last['index'] === piece['index'];
  if (!same || piece['index'] === undefined) return [...details, piece];
  const joined: JsonRecord = { ...last, ...piece };
  for (const field of ['text', 'summary', 'data']) {
    if (field in last && field in piece) joined[field] = asText(last[field]) + asText(piece[field]);
  }
  return [...details.slice(0, -1), joined];
}
