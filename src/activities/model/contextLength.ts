/** How providers say that a conversation is too long. There is no standard; these are their words. */
import type { ErrorFacts } from './errorFacts.ts';

const CODES: readonly string[] = [
  'context_length_exceeded', // OpenAI, Azure, and most gateways
  'string_above_max_length', // OpenAI: one message of more than 10 MiB
  'exceed_context_size_error', // llama.cpp
  'model_max_prompt_tokens_exceeded', // GitHub Models
  'request_too_large', // Anthropic, with status 413
];

const TEXTS: readonly RegExp[] = [
  /maximum context length/i, // OpenAI chat, vLLM, OpenRouter, DeepSeek, Mistral
  /exceeds? (the|this model's) (available )?context (size|window|length)/i, // OpenAI responses, llama.cpp
  /longer than the (maximum )?model('s)? (length|context)/i, // vLLM
  /longer than the maximum model length/i, // vLLM
  /prompt is too long/i, // Anthropic
  /exceed context limit/i, // Anthropic, with max_tokens
  /input token count.* exceeds the maximum/i, // Gemini
  /maximum prompt length is/i, // xAI
  /reduce the length of the messages/i, // Groq
  /greater than the context length|context the overflows/i, // LM Studio
  // OpenAI's 429 for one request above the limit of a minute: waiting can't help, compaction does.
  /request too large for .* tokens per min/i,
];

/** Whether the provider refused the request for its length. */
export function isContextTooLong({ codes, text }: ErrorFacts): boolean {
  return CODES.some((code) => codes.split(' ').includes(code)) || TEXTS.some((known) => known.test(text));
}
