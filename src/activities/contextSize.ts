/**
 * How large a context is, in tokens: by the provider's own count of the last request where there is one, and the
 * tokenizer for what came after it.
 */
import type { EventOf, SessionEvent } from '../domain/event.ts';
import type { ContextMessage } from '../domain/model.ts';
import type { SessionState } from '../domain/session.ts';
import type { ContextView } from './archivedContext.ts';
import type { ModelRequest } from './model/request.ts';
import { type TokenCounter, tokenCounter } from './model/tokens.ts';

/** The request's tokens: exact enough to decide by, and cheap where the provider says what the last one had. */
export async function contextTokens(view: ContextView, request: ModelRequest): Promise<number> {
  const counter = await tokenCounter();
  const last = lastUsage(view);
  if (last === undefined) return counter.request(request);
  const { input_tokens, output_tokens } = last.usage;
  const since = view.events.filter(({ seq }) => seq > last.seq);
  return since.reduce((sum, event) => sum + eventTokens(counter, event), input_tokens + output_tokens);
}

/** Of what an event adds to the conversation. */
export function eventTokens(counter: TokenCounter, event: SessionEvent): number {
  const known = counted.get(event);
  if (known !== undefined) return known;
  const tokens = messagesOf(event).reduce((sum, message) => sum + counter.message(message), 0);
  counted.set(event, tokens);
  return tokens;
}

/** Events stay in memory while their session does, and never change. */
const counted = new WeakMap<SessionEvent, number>();

function messagesOf(event: SessionEvent): ContextMessage[] {
  switch (event.type) {
    case 'user_message':
      return [{ role: 'user', text: event.text }];
    case 'assistant_message': {
      const { text, reasoning, tool_calls } = event;
      return [{ role: 'assistant', text, reasoning, tool_calls }];
    }
    case 'tool_result':
      return [{ role: 'tool', call_id: event.call_id, text: event.output }];
    case 'tool_recovery':
      return [{ role: 'tool', call_id: event.call_id, text: event.evidence }];
    default:
      return [];
  }
}

interface CountedReply {
  seq: number;
  usage: NonNullable<EventOf<'assistant_message'>['usage']>;
}

/** Of the model that is asked now, and of the same beginning: a summary since has changed it. */
function lastUsage({ state, events }: ContextView): CountedReply | undefined {
  const reply = events.findLast((event) => event.type === 'assistant_message' && event.usage !== null);
  if (reply?.type !== 'assistant_message' || reply.usage === null) return undefined;
  if (reply.seq < (state.summary?.seq ?? 0) || !isOfModel(state, events, reply)) return undefined;
  // Some servers answer with a usage of nothing.
  return reply.usage.input_tokens === 0 ? undefined : { seq: reply.seq, usage: reply.usage };
}

function isOfModel(
  { settings }: SessionState,
  events: readonly SessionEvent[],
  { operation_id }: EventOf<'assistant_message'>,
): boolean {
  return events.some(
    (event) =>
      event.type === 'model_called' && event.operation_id === operation_id && event.model === settings.model,
  );
}
