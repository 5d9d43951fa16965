/** What a scripted model was asked, read from either protocol into one form that scripts can match on. */
import type { IncomingHttpHeaders } from 'node:http';

export type Protocol = 'chat' | 'responses';

/** One message of the conversation that was sent. Assistant items in a row are one message. */
interface SeenMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  calls: { call_id: string; tool: string; arguments: string }[];
  /** Of a tool's result. */
  call_id?: string;
  /** Reasoning that was given back, as it was sent. */
  reasoning: unknown[];
}

export interface Conversation {
  system: string;
  messages: SeenMessage[];
  /** The text that the turn answers: the last user message that is not a `<block>` of the agent's own. */
  lastUserText: string;
  /** Assistant messages after it: 0 for the first step of a turn. */
  step: number;
  /** By call_id. */
  toolResults: Record<string, string>;
  /** In the order of the conversation, those after `lastUserText` alone. */
  resultsOfTurn: string[];
}

/** How the exchange ended: `aborted` is the client that closed the connection before the end. */
export type Outcome = 'answered' | 'aborted' | 'broken';

export interface SeenRequest extends Conversation {
  /** From 0, in order of arrival. */
  index: number;
  /** ISO 8601. */
  at: string;
  path: string;
  protocol: Protocol;
  headers: IncomingHttpHeaders;
  idempotencyKey: string | undefined;
  /** Tells connections apart. */
  clientPort: number | undefined;
  model: string;
  streamed: boolean;
  body: Record<string, unknown>;
  /** Undefined while the answer is under way. */
  outcome: Outcome | undefined;
  ended: Promise<Outcome>;
}

/** Reads the conversation of a request's body. */
export function readConversation(protocol: Protocol, body: Record<string, unknown>): Conversation {
  const items = list(protocol === 'chat' ? body['messages'] : body['input']);
  const messages = typeof body['input'] === 'string' ? [message('user', body['input'])] : [];
  for (const item of items) {
    append(messages, protocol === 'chat' ? readChatMessage(item) : readResponsesItem(item));
  }
  const start = messages.findLastIndex((message) => message.role === 'user' && !isBlock(message.text));
  const after = messages.slice(start + 1);
  return {
    system: [text(body['instructions']), ...messages.filter(isSystem).map(({ text }) => text)]
      .join('\n')
      .trim(),
    messages,
    lastUserText: messages[start]?.text ?? '',
    step: after.filter(({ role }) => role === 'assistant').length,
    toolResults: Object.fromEntries(
      messages.flatMap(({ call_id, text }) => (call_id === undefined ? [] : [[call_id, text]])),
    ),
    resultsOfTurn: after.filter(({ role }) => role === 'tool').map(({ text }) => text),
  };
}

function readChatMessage(item: Record<string, unknown>): SeenMessage {
  const role = item['role'];
  if (role === 'tool')
    return { ...message('tool', text(item['content'])), call_id: text(item['tool_call_id']) };
  if (role !== 'assistant') return message(role === 'user' ? 'user' : 'system', text(item['content']));
  const calls = list(item['tool_calls']).map((call) => {
    const { name, arguments: args } = record(call['function']);
    return { call_id: text(call['id']), tool: text(name), arguments: text(args) };
  });
  const reasoning = [item['reasoning_content'], item['reasoning_details']].filter(
    (value) => value !== undefined,
  );
  return { ...message('assistant', text(item['content'])), calls, reasoning };
}

function readResponsesItem(item: Record<string, unknown>): SeenMessage {
  switch (item['type']) {
    case 'function_call': {
      const call = {
        call_id: text(item['call_id']),
        tool: text(item['name']),
        arguments: text(item['arguments']),
      };
      return { ...message('assistant', ''), calls: [call] };
    }
    case 'function_call_output':
      return { ...message('tool', text(item['output'])), call_id: text(item['call_id']) };
    case 'reasoning':
      return { ...message('assistant', ''), reasoning: [item] };
    default: {
      const role = item['role'];
      const known = role === 'user' || role === 'assistant' ? role : 'system';
      return message(known, text(item['content']));
    }
  }
}

/** Joins `next` to the last message where both are the assistant's. */
function append(messages: SeenMessage[], next: SeenMessage): void {
  const last = messages.at(-1);
  if (next.role !== 'assistant' || last?.role !== 'assistant') {
    messages.push(next);
    return;
  }
  last.text += next.text;
  last.calls.push(...next.calls);
  last.reasoning.push(...next.reasoning);
}

/** The agent wraps what it says itself (`<recovery>`, `<environment>`) in a tag. */
function isBlock(text: string): boolean {
  return /^\s*<[a-z_-]+[\s>]/.test(text);
}

function isSystem(message: SeenMessage): boolean {
  return message.role === 'system';
}

function message(role: SeenMessage['role'], text: string): SeenMessage {
  return { role, text, calls: [], reasoning: [] };
}

/** A string, or the text parts of a content list. */
function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return list(value)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(record) : [];
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
