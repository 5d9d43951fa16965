/**
 * How many tokens a request has, counted over what goes over the wire: reasoning that its reader is not given
 * back does not count. What a provider bills differs by its own chat template.
 */
import { asList, asRecord, asText, type JsonRecord } from './json.ts';
import type { ContextMessage, ToolDefinition } from '../../domain/model.ts';
import type { ModelRequest } from './request.ts';
import { textTokens } from './tokenizer.ts';
import { wireMessages } from './wire.ts';

/** Who reads the messages: it decides what of them is sent. */
export type Reader = Pick<ModelRequest, 'api' | 'base_url' | 'model'>;

/** What is counted of a request. */
export type CountedRequest = Reader & Pick<ModelRequest, 'messages' | 'tools'>;

/** Role and separators of a message or of a call; OpenAI's are 3 to 4 (their cookbook on counting tokens). */
const FRAME_TOKENS = 4;
/**
 * Reasoning as its maker wants it back is signed or encrypted and says nothing about its size once it is
 * opened. Four bytes a token is what English has; base64 of the same text is a third longer.
 */
const OPAQUE_BYTES_PER_TOKEN = 4;

/** A request taken apart: texts to count, and what is known without counting. */
interface Parts {
  texts: string[];
  fixed: number;
}

/** Tokens of the whole request. */
export async function requestTokens(request: CountedRequest): Promise<number> {
  return partsTokens(requestParts(request));
}

/** Tokens of one message as `reader` would be sent it within the turn under way, where its reasoning counts. */
export async function messageTokens(message: ContextMessage, reader: Reader): Promise<number> {
  return partsTokens(messageParts([message], reader));
}

/** Tokens of the tools' definitions, as JSON; providers render them a little shorter. */
export async function toolTokens(tools: ToolDefinition[]): Promise<number> {
  return partsTokens(toolParts(tools));
}

/** What `requestTokens` can't exceed, without a tokenizer: no token is less than a byte of UTF-8. */
export function requestTokensAtMost(request: CountedRequest): number {
  const { texts, fixed } = requestParts(request);
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), fixed);
}

/** Whether the request has more than `limit` tokens. Counts only where its bytes leave that open. */
export async function exceedsTokens(request: CountedRequest, limit: number): Promise<boolean> {
  if (requestTokensAtMost(request) <= limit) return false;
  return (await requestTokens(request)) > limit;
}

function requestParts({ messages, tools, ...reader }: CountedRequest): Parts {
  const [said, offered] = [messageParts(messages, reader), toolParts(tools)];
  return { texts: [...said.texts, ...offered.texts], fixed: said.fixed + offered.fixed };
}

function messageParts(messages: ContextMessage[], reader: Reader): Parts {
  const items = wireMessages({ ...reader, messages, tools: [] }).map((item) => itemParts(asRecord(item)));
  return {
    texts: items.flatMap(({ texts }) => texts),
    fixed: items.reduce((sum, { fixed }) => sum + fixed, 0),
  };
}

/** A message or item of either protocol (chatWire.ts and responsesWire.ts say how they are built). */
function itemParts(item: JsonRecord): Parts {
  if (item['type'] === 'reasoning') return { texts: [], fixed: opaqueTokens(item) };
  const { role: _, type: _type, call_id: _call, tool_call_id: _result, phase: _phase, ...said } = item;
  const { content, output, name, arguments: args, tool_calls, ...opaque } = said;
  const calls = asList(tool_calls).map(asRecord);
  const functions = calls.map(({ function: called }) => asRecord(called));
  const extras = calls.map(({ id: _id, type: _of, function: _called, ...extra }) => extra);
  return {
    texts: [
      content,
      output,
      name,
      args,
      ...functions.flatMap((called) => [called['name'], called['arguments']]),
    ].map(asText),
    fixed:
      FRAME_TOKENS * (1 + calls.length) +
      [opaque, ...extras].reduce((sum, fields) => sum + opaqueTokens(fields), 0),
  };
}

function opaqueTokens(fields: JsonRecord): number {
  if (Object.keys(fields).length === 0) return 0;
  return Math.ceil(Buffer.byteLength(JSON.stringify(fields)) / OPAQUE_BYTES_PER_TOKEN);
}

function toolParts(tools: ToolDefinition[]): Parts {
  return { texts: tools.map((tool) => JSON.stringify(tool)), fixed: FRAME_TOKENS * tools.length };
}

async function partsTokens({ texts, fixed }: Parts): Promise<number> {
  let tokens = fixed;
  for (const text of texts) tokens += await rememberedTokens(text);
  return tokens;
}

/**
 * Counts by text, the most recently used last. Not by message: a message is built anew for each call, but its
 * texts are those of the events that a worker keeps anyway, so a key costs nothing and is found by reference.
 */
const remembered = new Map<string, number>();
let rememberedChars = 0;
const REMEMBERED_MAX_CHARS = 16 * 1024 * 1024;
/** Shorter ones are counted sooner than looked after. */
const REMEMBERED_MIN_CHARS = 64;

async function rememberedTokens(text: string): Promise<number> {
  if (text.length < REMEMBERED_MIN_CHARS) return textTokens(text);
  const tokens = remembered.get(text) ?? (await textTokens(text));
  if (remembered.delete(text)) rememberedChars -= text.length;
  remembered.set(text, tokens);
  rememberedChars += text.length;
  for (const [oldest] of remembered) {
    if (rememberedChars <= REMEMBERED_MAX_CHARS) break;
    remembered.delete(oldest);
    rememberedChars -= oldest.length;
  }
  return tokens;
}
