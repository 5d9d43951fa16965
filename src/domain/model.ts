/**
 * What is asked of a model and what it answers, in no provider's form. The adapters
 * (activities/model) turn this into a wire protocol and back.
 */

/** The two wire protocols: OpenAI's Responses and Chat Completions. */
export type ModelApi = 'responses' | 'chat';

/** Tokens of one reply, or of many together. A provider that sends none leaves all at 0. */
export interface Usage {
  input_tokens: number;
  cached_input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
}

export const NO_USAGE: Usage = {
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
};

/** The sum, field by field. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
  };
}

/** A tool as the model is told of it; `parameters` is a JSON Schema. */
export interface ToolDefinition {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** A call as the model wrote it: `arguments` is its JSON text, which may be malformed. */
export interface ModelToolCall {
  call_id: string;
  tool: string;
  arguments: string;
}

/**
 * Reasoning that only its own maker can read: given back unchanged to the provider and model that made it,
 * and to no other.
 */
export interface OpaqueReasoning {
  provider: string;
  model: string;
  items: unknown[];
}

/** One message of the conversation. After an assistant message with calls comes one tool message for each. */
export type ContextMessage =
  | { role: 'system'; text: string }
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string; reasoning: OpaqueReasoning | null; tool_calls: ModelToolCall[] }
  | { role: 'tool'; call_id: string; text: string };

/** Why the model stopped: `length` means that its reply was cut off. */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'unknown';

/** A whole reply. */
export interface ModelReply {
  text: string;
  reasoning: OpaqueReasoning | null;
  tool_calls: ModelToolCall[];
  usage: Usage | null;
  finish_reason: FinishReason;
  /** What was odd about the reply and was mended (an empty name, a missing id), for the log. */
  notes: string[];
}

/** What a model call would send. */
export interface ContextPreview {
  /** As they go over the wire in the session's protocol. */
  messages: unknown[];
  tools: unknown[];
  /** sha256 of `messages`. */
  digest: string;
  tokens_estimate: number;
}
