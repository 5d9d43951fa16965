/** A request as the Responses API takes it: https://platform.openai.com/docs/api-reference/responses/create */
import type {
  ResponseCreateParamsStreaming,
  ResponseFunctionToolCall,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import type { ContextMessage, ModelToolCall } from '../../domain/model.ts';
import { cleanText } from './cleanText.ts';
import { asRecord, asText, type JsonRecord } from './json.ts';
import { providerId } from './provider.ts';
import type { WireInput } from './request.ts';
import { wireArguments, wireCallId, wireToolName } from './wireCall.ts';

type AssistantMessage = Extract<ContextMessage, { role: 'assistant' }>;

/**
 * The body of a streamed request. Nothing is stored at the provider, so reasoning must come encrypted to be
 * given back; servers that don't know this ignore it, and one that refuses it is asked again without
 * (optionalParameters.ts).
 */
export function toResponsesRequest(input: WireInput): ResponseCreateParamsStreaming {
  return {
    model: input.model,
    input: responsesInput(input),
    ...(input.tools.length === 0 ? {} : { tools: responsesTools(input), ...toolChoice(input) }),
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(input.max_output_tokens === undefined ? {} : { max_output_tokens: input.max_output_tokens }),
  };
}

/** The conversation as it is sent. */
export function responsesInput(input: WireInput): ResponseInputItem[] {
  return input.messages.flatMap((message) => inputItems(message, input));
}

/** `strict` is said because its default is true, which changes the schemas. */
function responsesTools({ tools }: WireInput): NonNullable<ResponseCreateParamsStreaming['tools']> {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    parameters,
    strict: false,
  }));
}

function inputItems(message: ContextMessage, input: WireInput): ResponseInputItem[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return [{ role: message.role, content: cleanText(message.text) }];
    case 'tool':
      return [
        {
          type: 'function_call_output',
          call_id: wireCallId(message.call_id),
          output: cleanText(message.text),
        },
      ];
    case 'assistant':
      return assistantItems(message, ownReasoning(message, input));
    default:
      return message satisfies never;
  }
}

/** Reasoning of this provider and model; of any other nothing is sent. */
function ownReasoning({ reasoning }: AssistantMessage, input: WireInput): JsonRecord[] {
  if (reasoning === null || reasoning.model !== input.model) return [];
  return reasoning.provider === providerId(input.base_url) ? reasoning.items.map(asRecord) : [];
}

/**
 * Puts text and calls between the reasoning items in the order in which they came (the markers are of
 * responsesFold.ts), then what no marker names. A reasoning item without anything after it is left out:
 * OpenAI refuses it ("provided without its required following item").
 */
function assistantItems(message: AssistantMessage, layout: JsonRecord[]): ResponseInputItem[] {
  let text = message.text;
  const calls = [...message.tool_calls];
  const items: (ResponseInputItem | undefined)[] = [];
  for (const item of layout) {
    if (item['type'] === 'message') {
      const chars = Number(item['chars']);
      items.push(textItem(text.slice(0, chars), item['phase']));
      text = text.slice(chars);
    } else if (item['type'] === 'function_call') {
      items.push(callItem(calls.shift()));
    } else if (canReturn(item)) {
      items.push(item as unknown as ResponseInputItem);
    }
  }
  items.push(textItem(text, undefined), ...calls.map(callItem));
  const present = items.filter((item) => item !== undefined);
  return present.slice(0, present.findLastIndex((item) => item.type !== 'reasoning') + 1);
}

function textItem(text: string, phase: unknown): ResponseInputItem | undefined {
  if (text === '') return undefined;
  const known = phase === 'commentary' || phase === 'final_answer' ? { phase } : {};
  return { role: 'assistant', content: cleanText(text), ...known } as ResponseInputItem;
}

function callItem(call: ModelToolCall | undefined): ResponseFunctionToolCall | undefined {
  if (call === undefined) return undefined;
  return {
    type: 'function_call',
    call_id: wireCallId(call.call_id),
    name: wireToolName(call.tool),
    arguments: wireArguments(call.arguments),
  };
}

/** Without its content, encrypted or plain, an item is a mere reference to what nobody has stored. */
function canReturn(item: JsonRecord): boolean {
  const content = item['content'];
  return asText(item['encrypted_content']) !== '' || (Array.isArray(content) && content.length > 0);
}

function toolChoice({ tool_choice }: WireInput): { tool_choice?: 'none' } {
  return tool_choice === undefined ? {} : { tool_choice };
}
