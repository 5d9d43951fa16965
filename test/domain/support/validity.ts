/** What every provider asks of a conversation: each call has its one result right after it, and no result is alone. */
import type { ContextMessage } from '../../../src/domain/model.ts';
import { chatMessages } from '../../../src/activities/model/chatWire.ts';
import { responsesInput } from '../../../src/activities/model/responsesWire.ts';

/** What is wrong with a conversation, in itself and in both protocols; empty when nothing is. */
export function problemsOf(messages: ContextMessage[]): string[] {
  const input = { base_url: null, model: 'm', messages, tools: [] };
  return [
    ...plainProblems(messages),
    ...chatProblems(chatMessages(input) as unknown as ChatMessage[]).map((problem) => `chat: ${problem}`),
    ...responsesProblems(responsesInput(input) as unknown as ResponsesItem[]).map(
      (problem) => `responses: ${problem}`,
    ),
  ];
}

function plainProblems(messages: ContextMessage[]): string[] {
  const problems: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (typeof message.text !== 'string') problems.push(`message ${index} has no text`);
    if ((message.role === 'system') !== (index === 0)) problems.push(`message ${index} is ${message.role}`);
  }
  const calls = messages.map((message) =>
    message.role === 'assistant' ? message.tool_calls.map((call) => call.call_id) : [],
  );
  const results = messages.map((message) => (message.role === 'tool' ? message.call_id : undefined));
  return [...problems, ...pairing(calls, results)];
}

interface ChatMessage {
  role: string;
  content: unknown;
  tool_calls?: { id: string }[];
  tool_call_id?: string;
}

function chatProblems(messages: ChatMessage[]): string[] {
  const problems = messages.flatMap(({ role, content, tool_calls }, index) => {
    const calling = role === 'assistant' && content === null && (tool_calls ?? []).length > 0;
    return typeof content === 'string' || calling ? [] : [`message ${index} has no content`];
  });
  const calls = messages.map(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id));
  const results = messages.map(({ tool_call_id }) => tool_call_id);
  return [...problems, ...pairing(calls, results)];
}

/** Of the message at each index: the calls that it makes, the call that it answers. */
function pairing(calls: string[][], results: (string | undefined)[]): string[] {
  const problems: string[] = [];
  let open: string[] = [];
  for (const [index, answered] of results.entries()) {
    if (answered !== open.shift()) problems.push(`message ${index} answers ${answered ?? 'nothing'}`);
    const own = calls[index] ?? [];
    if (new Set(own).size !== own.length) problems.push(`message ${index} makes one call twice`);
    if (own.length > 0) open = own;
  }
  return open.length === 0 ? problems : [...problems, `${open.join()} without a result`];
}

interface ResponsesItem {
  type?: string;
  /** Of calls and their outputs alone. */
  call_id: string;
  role?: string;
}

function responsesProblems(items: ResponsesItem[]): string[] {
  const open = new Set<string>();
  const problems = items.flatMap((item, index) => {
    const problem = responsesProblem(item, items[index - 1], open);
    return problem === undefined ? [] : [`item ${index} ${problem}`];
  });
  return open.size === 0 ? problems : [...problems, `${[...open].join()} without a result`];
}

/** `open`: calls so far without a result. */
function responsesProblem(
  { type, call_id, role }: ResponsesItem,
  before: ResponsesItem | undefined,
  open: Set<string>,
): string | undefined {
  if (type === 'function_call_output') return open.delete(call_id) ? undefined : `answers ${call_id} alone`;
  const inReply = before?.type !== 'function_call_output' && (role ?? 'assistant') === 'assistant';
  if (open.size > 0 && !inReply) return 'comes before all calls have results';
  if (type !== 'function_call') return undefined;
  const twice = open.has(call_id);
  open.add(call_id);
  return twice ? `makes ${call_id} twice` : undefined;
}
