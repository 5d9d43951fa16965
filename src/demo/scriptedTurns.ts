/** What a scripted model answers: one turn, in no protocol's form, built by the helpers below. */
import type { FinishReason, Usage } from '../domain/model.ts';

/** A call of a tool. A string as `args` is sent as it stands, so that it may be malformed JSON. */
export interface ScriptedCall {
  tool: string;
  args: unknown;
  /** Default: derived from the conversation's length, so that it is unique in it and the same on a repeat. */
  call_id?: string;
}

/** How a reply is sent. */
export interface TurnOptions {
  /** Tokens to report; null: none are reported. Default: a quarter of the characters. */
  usage?: Usage | null;
  /** Default: `tool_calls` or `stop`. */
  finish?: FinishReason;
  /** Reasoning that is shown (chat: `reasoning_content`; responses: a summary with an encrypted item). */
  reasoning?: string;
  /** Characters of one delta. */
  chunk_chars?: number;
  /** Pause before each chunk but the first. Without pauses the whole reply is one write. */
  chunk_delay_ms?: number;
  /** Pause before the response's head. */
  first_byte_ms?: number;
  /** Cut the connection after so many server-sent events. */
  break_after?: number;
  /** Say nothing for `ms` after `after` server-sent events, then go on. */
  stall?: { after: number; ms: number };
  /** False: one JSON body although a stream was asked for. */
  streamed?: boolean;
}

export interface ReplyTurn extends TurnOptions {
  kind: 'reply';
  text: string;
  calls: ScriptedCall[];
}

export interface FailTurn {
  kind: 'fail';
  status: number;
  /** JSON unless it is a string. */
  body: unknown;
  headers: Record<string, string>;
}

export interface RawTurn {
  kind: 'raw';
  chunks: (string | Uint8Array)[];
  headers: Record<string, string>;
  chunk_delay_ms: number;
  /** Cut the connection instead of ending the body. */
  broken: boolean;
}

export type ScriptedTurn = ReplyTurn | FailTurn | RawTurn;

/** Answers with text alone. */
export function say(text: string, options: TurnOptions = {}): ReplyTurn {
  return { kind: 'reply', text, calls: [], ...options };
}

/** Answers with one tool call. */
export function callTool(
  tool: string,
  args: unknown,
  options: TurnOptions & { text?: string } = {},
): ReplyTurn {
  return callTools([{ tool, args }], options);
}

/** Answers with several tool calls at once. */
export function callTools(calls: ScriptedCall[], options: TurnOptions & { text?: string } = {}): ReplyTurn {
  return { kind: 'reply', text: '', calls, ...options };
}

/** Answers with an HTTP error. `body`: what OpenAI would send, unless it is given. */
export function fail(status: number, body?: unknown, headers: Record<string, string> = {}): FailTurn {
  const usual = {
    error: { message: `scripted failure ${status}`, type: 'scripted', code: null, param: null },
  };
  return { kind: 'fail', status, body: body ?? usual, headers };
}

/** Cuts the connection after so many server-sent events of `turn`. */
export function breakStream(afterChunks: number, turn: ReplyTurn = say(LONG_TEXT)): ReplyTurn {
  return { ...turn, break_after: afterChunks };
}

/** Says nothing for `ms` after so many server-sent events of `turn`. */
export function stall(ms: number, afterChunks = 1, turn: ReplyTurn = say(LONG_TEXT)): ReplyTurn {
  return { ...turn, stall: { after: afterChunks, ms } };
}

/** Sends exactly these pieces as the body. */
export function rawChunks(
  chunks: (string | Uint8Array)[],
  options: Partial<Omit<RawTurn, 'kind' | 'chunks'>> = {},
): RawTurn {
  const headers = { 'content-type': 'text/event-stream' };
  return { kind: 'raw', chunks, headers, chunk_delay_ms: 0, broken: false, ...options };
}

/** Enough for several deltas. */
const LONG_TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(40);
