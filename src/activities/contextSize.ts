/**
 * How large a context is, in tokens: by the provider's own count of the last request where there is one, and the
 * tokenizer for what came after it.
 */
import type { EventOf, SessionEvent } from '../domain/event.ts';
import type { ContextMessage } from '../domain/model.ts';
import type { SessionState } from '../domain/session.ts';
import type { ContextView } from './log/archivedContext.ts';
import type { ModelRequest } from './model/request.ts';
import { messageTokens, type Reader, requestTokens, requestTokensAtMost } from './model/tokens.ts';

/**
 * The request's tokens, as exact as one can decide by. `enough`: where there are surely no more than this, so
 * many as there can be at most are good enough, and the tokenizer is not needed.
 */
export async function contextTokens(view: ContextView, request: ModelRequest, enough = 0): Promise<number> {
  const last = lastUsage(view);
  const counted = last === undefined ? 0 : last.usage.input_tokens + last.usage.output_tokens;
  const since = view.events.filter(({ seq }) => seq > (last?.seq ?? 0));
  const rest = last === undefined ? request : { ...request, messages: since.flatMap(messagesOf), tools: [] };
  const at_most = counted + requestTokensAtMost(rest);
  return at_most <= enough ? at_most : counted + (await requestTokens(rest));
}

/** What each event adds to the conversation. */
export async function tokensByEvent(
  events: readonly SessionEvent[],
  reader: Reader,
): Promise<ReadonlyMap<SessionEvent, number>> {
  const counted = new Map<SessionEvent, number>();
  for (const event of events) {
    let tokens = 0;
    for (const message of messagesOf(event)) tokens += await messageTokens(message, reader);
    counted.set(event, tokens);
  }
  return counted;
}

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
