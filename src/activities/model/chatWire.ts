/** A request as Chat Completions takes it: https://platform.openai.com/docs/api-reference/chat/create */
import type { ChatCompletionCreateParamsStreaming, ChatCompletionMessageParam } from 'openai/resources';
import type { ContextMessage } from '../../domain/model.ts';
import { cleanText } from './cleanText.ts';
import { asRecord } from './json.ts';
import { providerId } from './provider.ts';
import type { WireInput } from './request.ts';
import { wireArguments, wireCallId, wireToolName } from './wireCall.ts';

type AssistantMessage = Extract<ContextMessage, { role: 'assistant' }>;

/** The body of a streamed request. */
export function toChatRequest(input: WireInput): ChatCompletionCreateParamsStreaming {
  return {
    model: input.model,
    messages: chatMessages(input),
    ...(input.tools.length === 0 ? {} : { tools: chatTools(input), ...toolChoice(input) }),
    stream: true,
    stream_options: { include_usage: true },
    ...outputLimit(input),
  };
}

/** The conversation as it is sent. */
export function chatMessages(input: WireInput): ChatCompletionMessageParam[] {
  const turn = input.messages.findLastIndex(({ role }) => role === 'user');
  return input.messages.flatMap((message, index) => chatMessage(message, input, index > turn));
}

function chatTools({ tools }: WireInput): NonNullable<ChatCompletionCreateParamsStreaming['tools']> {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

/** OpenAI's reasoning models refuse `max_tokens`; most other servers know nothing else. */
function outputLimit({ base_url, max_output_tokens }: WireInput): object {
  if (max_output_tokens === undefined) return {};
  return providerId(base_url) === 'openai'
    ? { max_completion_tokens: max_output_tokens }
    : { max_tokens: max_output_tokens };
}

function chatMessage(
  message: ContextMessage,
  input: WireInput,
  inTurn: boolean,
): ChatCompletionMessageParam[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return [{ role: message.role, content: cleanText(message.text) }];
    case 'tool':
      return [{ role: 'tool', tool_call_id: wireCallId(message.call_id), content: cleanText(message.text) }];
    case 'assistant':
      return assistantMessage(message, inTurn ? ownReasoning(message, input) : []);
    default:
      return message satisfies never;
  }
}

/** An assistant message with nothing in it is left out: several providers refuse it. */
function assistantMessage(message: AssistantMessage, reasoning: unknown[]): ChatCompletionMessageParam[] {
  if (message.text === '' && message.tool_calls.length === 0) return [];
  const fields: object = Object.assign({}, ...reasoning.map(messageFields));
  const tool_calls = message.tool_calls.map((call, index) => ({
    id: wireCallId(call.call_id),
    type: 'function' as const,
    function: { name: wireToolName(call.tool), arguments: wireArguments(call.arguments) },
    ...callFields(reasoning, index),
  }));
  return [
    {
      ...fields,
      role: 'assistant',
      content: message.text === '' ? null : cleanText(message.text),
      ...(tool_calls.length === 0 ? {} : { tool_calls }),
    },
  ];
}

/**
 * Reasoning of this provider and model (chatReasoning.ts has the items' form). Only that after the last
 * user message goes back: DeepSeek and Gemini refuse a turn's calls without it, and older reasoning is
 * ignored or refused. https://api-docs.deepseek.com/guides/thinking_mode
 */
function ownReasoning({ reasoning }: AssistantMessage, input: WireInput): unknown[] {
  if (reasoning === null || reasoning.model !== input.model) return [];
  return reasoning.provider === providerId(input.base_url) ? reasoning.items : [];
}

function messageFields(item: unknown): object {
  const { message } = asRecord(item);
  return asRecord(message);
}

function callFields(reasoning: unknown[], index: number): object {
  const own = reasoning.map(asRecord).find(({ call }) => call === index);
  return asRecord(own?.['fields']);
}

function toolChoice({ tool_choice }: WireInput): { tool_choice?: 'none' } {
  return tool_choice === undefined ? {} : { tool_choice };
}
