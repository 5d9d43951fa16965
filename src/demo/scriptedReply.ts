/** A scripted turn made concrete for one request: ids, texts and numbers that both protocols send. */
import type { FinishReason, Usage } from '../domain/model.ts';
import type { SeenRequest } from './scriptedRequest.ts';
import type { ReplyTurn } from './scriptedTurns.ts';

const CHUNK_CHARS = 200;
const CHARS_PER_TOKEN = 4;

export interface ConcreteReply {
  /** Of the response object. */
  id: string;
  model: string;
  /** Seconds since 1970. */
  created: number;
  text: string;
  textChunks: string[];
  reasoning: string;
  reasoningChunks: string[];
  calls: { call_id: string; tool: string; arguments: string; chunks: string[] }[];
  finish: FinishReason;
  usage: Usage | null;
}

export function concreteReply(turn: ReplyTurn, request: SeenRequest): ConcreteReply {
  const size = turn.chunk_chars ?? CHUNK_CHARS;
  const reasoning = turn.reasoning ?? '';
  const calls = turn.calls.map(({ tool, args, call_id }, index) => {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const id = call_id ?? `call_${request.messages.length}_${index}`;
    return { call_id: id, tool, arguments: text, chunks: split(text, size) };
  });
  return {
    id: `scripted_${request.index}`,
    model: request.model,
    created: Math.floor(Date.parse(request.at) / 1000),
    text: turn.text,
    textChunks: split(turn.text, size),
    reasoning,
    reasoningChunks: split(reasoning, size),
    calls,
    finish: turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: turn.usage === undefined ? estimate(turn, request) : turn.usage,
  };
}

/** Splits by UTF-16 units, as careless servers do: a pair may be cut in two. */
function split(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

function estimate(turn: ReplyTurn, request: SeenRequest): Usage {
  const sent = request.messages.reduce((sum, { text }) => sum + text.length, request.system.length);
  const answered = turn.text.length + JSON.stringify(turn.calls).length;
  return {
    input_tokens: Math.ceil(sent / CHARS_PER_TOKEN),
    cached_input_tokens: 0,
    output_tokens: Math.ceil(answered / CHARS_PER_TOKEN),
    reasoning_tokens: Math.ceil((turn.reasoning ?? '').length / CHARS_PER_TOKEN),
  };
}
