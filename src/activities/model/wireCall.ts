/**
 * A recorded call as providers take it back. A model may write an empty name or malformed arguments; the
 * conversation must stay acceptable after that, and still show what was written.
 */
import { createHash } from 'node:crypto';
import { cleanText } from './cleanText.ts';

/** OpenAI's rule for function names: https://platform.openai.com/docs/api-reference/chat/create (tools). */
const NAME_MAX_CHARS = 64;
const UNNAMED = 'unnamed_tool';

/** The name, with what no provider accepts replaced by `_`. */
export function wireToolName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, NAME_MAX_CHARS) || UNNAMED;
}

/**
 * OpenAI's bounds for call ids, which other providers' ids may pass: 40 characters in chat ("string too
 * long. Expected a string with maximum length 40"), 64 in responses.
 */
const CALL_ID_MAX_CHARS = 40;

/** The id of a call and of its result; an overlong one is replaced, the same in both places. */
export function wireCallId(call_id: string): string {
  if (call_id.length <= CALL_ID_MAX_CHARS) return call_id;
  const prefix = 'call_';
  const digest = createHash('sha256').update(call_id).digest('hex');
  return prefix + digest.slice(0, CALL_ID_MAX_CHARS - prefix.length);
}

/**
 * The arguments as a JSON object. vLLM, llama.cpp and gateways to Anthropic parse them and refuse the whole
 * conversation for one malformed call, so malformed text is wrapped.
 */
export function wireArguments(text: string): string {
  const clean = cleanText(text);
  return isJsonObject(clean) ? clean : JSON.stringify({ malformed_arguments: clean });
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
