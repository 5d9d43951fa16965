/** The two wire protocols behind one shape: what is sent, and how what comes is folded. */
import type OpenAI from 'openai';
import { QUOTED_CHARS } from './bodyEvents.ts';
import { ModelCallError } from './callError.ts';
import { chatDeltas, chatDraft, EMPTY_CHAT, foldChatChunk } from './chatFold.ts';
import { toChatRequest } from './chatWire.ts';
import { asRecord } from './json.ts';
import type { ReplyDraft } from './replyDraft.ts';
import type { ModelDelta, ModelRequest } from './request.ts';
import { EMPTY_RESPONSES, foldResponsesEvent, responsesDeltas, responsesDraft } from './responsesFold.ts';
import { toResponsesRequest } from './responsesWire.ts';

/** The body of a request, of either protocol. */
export type WireBody = ReturnType<typeof toChatRequest> | ReturnType<typeof toResponsesRequest>;

/** `whole`: nothing more that matters can come. `enough`: the reply is there, its usage may follow. */
type Progress = 'open' | 'enough' | 'whole';

/** A reply that grows by events. */
export interface ReplyFold {
  push: (event: unknown) => ModelDelta[];
  /** A body that is one object. Throws ModelCallError `malformed` when it is no reply. */
  pushWhole: (body: unknown) => ModelDelta[];
  progress: () => Progress;
  draft: () => ReplyDraft;
}

export function wireBody(request: ModelRequest): WireBody {
  return request.api === 'chat' ? toChatRequest(request) : toResponsesRequest(request);
}

/** Sends the request; resolves at the response's head. */
export function send(
  client: OpenAI,
  body: WireBody,
  options: { headers: Record<string, string>; signal: AbortSignal },
): Promise<Response> {
  return 'messages' in body
    ? client.chat.completions.create(body, options).asResponse()
    : client.responses.create(body, options).asResponse();
}

export function beginFold(api: ModelRequest['api']): ReplyFold {
  return api === 'chat' ? chatFold() : responsesFold();
}

function chatFold(): ReplyFold {
  let state = EMPTY_CHAT;
  const push = (event: unknown) => {
    state = foldChatChunk(state, event);
    return chatDeltas(event);
  };
  return {
    push,
    pushWhole: (body) => push(checkedWhole(body, 'choices')),
    progress: () => (state.finish === null ? 'open' : 'enough'),
    draft: () => chatDraft(state),
  };
}

function checkedWhole(body: unknown, field: 'choices' | 'output'): unknown {
  if (Array.isArray(asRecord(body)[field])) return body;
  const quoted = JSON.stringify(body).slice(0, QUOTED_CHARS);
  throw new ModelCallError(
    'malformed',
    `Expected a reply with \`${field}\` from the model, found ${quoted}.`,
  );
}

function responsesFold(): ReplyFold {
  let state = EMPTY_RESPONSES;
  const push = (event: unknown) => {
    state = foldResponsesEvent(state, event);
    return responsesDeltas(event);
  };
  return {
    push,
    pushWhole: (body) => push({ type: 'response.completed', response: checkedWhole(body, 'output') }),
    progress: () => (state.final === null ? 'open' : 'whole'),
    draft: () => responsesDraft(state),
  };
}
