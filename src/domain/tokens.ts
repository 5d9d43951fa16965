/** What one model call costs in tokens, also where the provider does not say. */
import type { EventOf } from './event.ts';

/** A rough measure of text in any language: an estimate is only used where nothing better is known. */
const CHARS_PER_TOKEN = 4;

/**
 * Input and output of the reply, as reported, else estimated: `context_chars` is what is known of the
 * conversation that was sent.
 */
export function tokensOf(
  { usage, estimated_usage, text, tool_calls }: EventOf<'assistant_message'>,
  context_chars: number,
): number {
  const known = usage ?? estimated_usage;
  if (known !== undefined) return known.input_tokens + known.output_tokens;
  const written = tool_calls.reduce((sum, call) => sum + call.arguments.length, text.length);
  return Math.ceil((context_chars + written) / CHARS_PER_TOKEN);
}

/** A guess, for what nobody counts. */
export function tokensOfText(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}
