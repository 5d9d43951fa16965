/**
 * Chat Completions chunks to a reply. Servers differ in what they leave out: indices, ids, names, usage,
 * finish reasons. Format: https://platform.openai.com/docs/api-reference/chat-streaming
 */
import type { FinishReason, Usage } from '../../domain/model.ts';
import { foldCallDelta, type ChatCall } from './chatCalls.ts';
import { chatReasoningItems, foldReasoning, NO_REASONING, type ChatReasoning } from './chatReasoning.ts';
import { asCount, asList, asRecord, asText, type JsonRecord } from './json.ts';
import type { ReplyDraft } from './replyDraft.ts';
import type { ModelDelta } from './request.ts';

export interface ChatState {
  text: string;
  refusal: string;
  reasoning: ChatReasoning;
  calls: ChatCall[];
  /** As the server said it. */
  finish: string | null;
  usage: Usage | null;
}

export const EMPTY_CHAT: ChatState = {
  text: '',
  refusal: '',
  reasoning: NO_REASONING,
  calls: [],
  finish: null,
  usage: null,
};

/** The state after one more chunk, or after a whole `chat.completion` object. */
export function foldChatChunk(state: ChatState, event: unknown): ChatState {
  const chunk = asRecord(event);
  const choice = firstChoice(chunk);
  const delta = deltaOf(choice);
  const { text, reasoning } = contentOf(delta);
  return {
    text: state.text + text,
    refusal: state.refusal + asText(delta['refusal']),
    reasoning: foldReasoning(state.reasoning, delta, reasoning),
    calls: asList(delta['tool_calls']).reduce<ChatCall[]>(foldCallDelta, state.calls),
    finish: asText(choice['finish_reason']) || state.finish,
    usage: usageOf(chunk, choice) ?? state.usage,
  };
}

/** What one chunk has to show. */
export function chatDeltas(event: unknown): ModelDelta[] {
  const delta = deltaOf(firstChoice(asRecord(event)));
  const { text, reasoning } = contentOf(delta);
  const deltas: ModelDelta[] = [
    {
      kind: 'reasoning',
      text: asText(delta['reasoning_content']) || asText(delta['reasoning']) || reasoning,
    },
    { kind: 'text', text: text + asText(delta['refusal']) },
    ...asList(delta['tool_calls']).map((call) => ({
      kind: 'tool_arguments' as const,
      text: asText(asRecord(asRecord(call)['function'])['arguments']),
    })),
  ];
  return deltas.filter(({ text }) => text !== '');
}

/** The reply as far as it came. */
export function chatDraft(state: ChatState): ReplyDraft {
  const finish = FINISH_REASONS[state.finish ?? ''] ?? 'unknown';
  const notes =
    finish === 'unknown' ? [`The finish reason ${JSON.stringify(state.finish)} is none that is known.`] : [];
  return {
    text: state.text,
    refusal: state.refusal,
    calls: state.calls,
    reasoning: chatReasoningItems(state.reasoning, state.calls),
    usage: state.usage,
    finish,
    notes,
  };
}

/** OpenAI's, its older name for calls, and those of Anthropic and Gemini that gateways let through. */
const FINISH_REASONS: Record<string, FinishReason> = {
  stop: 'stop',
  end_turn: 'stop',
  STOP: 'stop',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  tool_use: 'tool_calls',
  length: 'length',
  max_tokens: 'length',
  MAX_TOKENS: 'length',
  content_filter: 'content_filter',
  refusal: 'content_filter',
  SAFETY: 'content_filter',
};

/** One choice is asked for, so others are not ours. */
function firstChoice(chunk: JsonRecord): JsonRecord {
  return (
    asList(chunk['choices'])
      .map(asRecord)
      .find(({ index }) => index === undefined || index === 0) ?? {}
  );
}

/** `message` where the server ignored `stream: true`. */
function deltaOf(choice: JsonRecord): JsonRecord {
  return asRecord(choice['delta'] ?? choice['message']);
}

/** Content is a string; Mistral sends parts, its reasoning among them. */
function contentOf(delta: JsonRecord): { text: string; reasoning: string } {
  const content = delta['content'];
  if (typeof content === 'string') return { text: content, reasoning: '' };
  const parts = asList(content).map(asRecord);
  const thinking = parts.flatMap((part) => asList(part['thinking']).map(asRecord));
  return { text: joinTexts(parts), reasoning: joinTexts(thinking) };
}

function joinTexts(parts: JsonRecord[]): string {
  return parts.map((part) => asText(part['text'])).join('');
}

/** In the last chunk by the standard; Moonshot puts it into the choice, Groq into `x_groq`. */
function usageOf(chunk: JsonRecord, choice: JsonRecord): Usage | undefined {
  const usage = asRecord(chunk['usage'] ?? choice['usage'] ?? asRecord(chunk['x_groq'])['usage']);
  if (Object.keys(usage).length === 0) return undefined;
  const cached =
    asRecord(usage['prompt_tokens_details'])['cached_tokens'] ?? usage['prompt_cache_hit_tokens'];
  return {
    input_tokens: asCount(usage['prompt_tokens']),
    cached_input_tokens: asCount(cached),
    output_tokens: asCount(usage['completion_tokens']),
    reasoning_tokens: asCount(asRecord(usage['completion_tokens_details'])['reasoning_tokens']),
  };
}
