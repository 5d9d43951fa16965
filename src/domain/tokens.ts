/** What one model call costs in tokens, also where the provider does not say. */
import type { EventOf } from './event.ts';

/** A rough measure of text in any language: an estimate is only used where nothing better is known. */
const CHARS_PER_TOKEN = 4;

/** Input and output of the call, as reported, else as estimated; where neither was recorded, of the reply alone. */
export function tokensOf({ usage, estimated_usage, text, tool_calls }: EventOf<'assistant_message'>): number {
  const known = usage ?? estimated_usage;
  if (known !== undefined) return known.input_tokens + known.output_tokens;
  return tokensOfText(text + tool_calls.map((call) => call.arguments).join(''));
}

/** A guess, for what nobody counts. */
export function tokensOfText(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}
