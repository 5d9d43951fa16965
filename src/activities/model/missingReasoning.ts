/**
 * Servers of thinking models that refuse a conversation in which another model has answered, since its
 * messages lack the `reasoning_content` that theirs have. DeepSeek V4 and Kimi K2 do, and take no empty text:
 * https://github.com/earendil-works/pi/pull/3640, https://github.com/earendil-works/pi/issues/4251. Asked again
 * with a placeholder there, and remembered for the life of the process.
 */
import { errorFacts } from './errorFacts.ts';
import type { WireBody } from './protocol.ts';
import type { ModelRequest } from './request.ts';

const PLACEHOLDER = '(not recorded)';

/** Older models of DeepSeek ask for the opposite, to remove it. */
const MISSING =
  /missing.{0,20}reasoning_content|reasoning_content.{0,20}missing|reasoning_content.*must be passed back/is;

const wanting = new Set<string>();

/** The body with a placeholder in each assistant message without reasoning, where this endpoint wants that. */
export function withPlaceholders(body: WireBody, request: ModelRequest): WireBody {
  if (!('messages' in body) || !wanting.has(endpointOf(request))) return body;
  const messages = body.messages.map((message) =>
    message.role === 'assistant' && !('reasoning_content' in message)
      ? { ...message, reasoning_content: PLACEHOLDER }
      : message,
  );
  return { ...body, messages };
}

/** Remembers that the endpoint misses reasoning; false when the error is about something else, or again. */
export function rememberMissing(error: unknown, body: WireBody, request: ModelRequest): boolean {
  const { status, text } = errorFacts(error);
  if ((status !== 400 && status !== 422) || !('messages' in body) || !MISSING.test(text)) return false;
  if (wanting.has(endpointOf(request))) return false;
  wanting.add(endpointOf(request));
  return true;
}

/** For the log: the recorded digest is that of the messages without placeholders. */
export function placeholderNotes(sent: WireBody, request: ModelRequest): string[] {
  if (!('messages' in sent) || !wanting.has(endpointOf(request))) return [];
  const filled = sent.messages.filter(
    (message) => 'reasoning_content' in message && message.reasoning_content === PLACEHOLDER,
  );
  if (filled.length === 0) return [];
  return [
    `The server wants reasoning in every reply: ${filled.length} of other models were sent with a placeholder.`,
  ];
}

function endpointOf({ base_url, model }: ModelRequest): string {
  return JSON.stringify([base_url, model]);
}
