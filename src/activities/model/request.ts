/** What a model call is given, whatever the protocol. */
import type { ContextMessage, ModelApi, ToolDefinition } from '../../domain/model.ts';

/** One model call. */
export interface ModelRequest {
  api: ModelApi;
  /** Null: https://api.openai.com/v1. */
  base_url: string | null;
  /** Undefined: no Authorization header is sent, as local servers like it. */
  api_key: string | undefined;
  model: string;
  messages: ContextMessage[];
  tools: ToolDefinition[];
  /** Sent as `Idempotency-Key`: the same on every retry. */
  operation_id: string;
  /** `none`: the tools are named only for the calls that are in the conversation. */
  tool_choice?: 'none';
  /** Default: the provider's own limit. */
  max_output_tokens?: number;
}

/** What decides the bytes of the conversation on the wire. */
export type WireInput = Pick<
  ModelRequest,
  'base_url' | 'model' | 'messages' | 'tools' | 'tool_choice' | 'max_output_tokens'
>;

/** A piece of a reply for live clients. It is shown and forgotten: the reply itself is what counts. */
export interface ModelDelta {
  kind: 'text' | 'reasoning' | 'tool_arguments';
  text: string;
}

export interface ModelCallOptions {
  /** Aborting closes the connection at once; the call then rejects with the signal's reason. */
  signal: AbortSignal;
  onDelta: (delta: ModelDelta) => void;
  /** At each chunk of bytes, comments that only keep the connection open included. */
  onActivity: () => void;
  /** Default: STALL_TIMEOUT_MS. More than 300,000 has no effect: Node's fetch gives up by itself then. */
  stallTimeoutMs?: number;
}

/**
 * Silence, before the first byte or between two, that means a dead call. Reasoning models are silent for
 * minutes, and a call given up too early is paid twice, so this is as long as Node's fetch allows (its
 * headersTimeout and bodyTimeout are 300 s) with some room for our own error to come first.
 */
export const STALL_TIMEOUT_MS = 285_000;
