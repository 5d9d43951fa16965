/** Puts a scripted turn on the wire: whole, in pieces, broken off or stalled. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatEvents, chatObject } from './scriptedChat.ts';
import { concreteReply } from './scriptedReply.ts';
import type { SeenRequest } from './scriptedRequest.ts';
import { responsesEvents, responsesObject } from './scriptedResponses.ts';
import type { FailTurn, RawTurn, ReplyTurn, ScriptedTurn } from './scriptedTurns.ts';

/** Sends `turn` as the answer to `request`; resolves when it is sent or the client is gone. */
export async function sendTurn(
  turn: ScriptedTurn,
  request: SeenRequest,
  response: ServerResponse,
): Promise<void> {
  switch (turn.kind) {
    case 'fail':
      sendFailure(turn, response);
      return;
    case 'raw':
      await sendRaw(turn, response);
      return;
    case 'reply':
      await sendReply(turn, request, response);
      return;
    default:
      turn satisfies never;
  }
}

function sendFailure(turn: FailTurn, response: ServerResponse): void {
  const isText = typeof turn.body === 'string';
  const body = isText ? String(turn.body) : JSON.stringify(turn.body);
  response.writeHead(turn.status, {
    'content-type': isText ? 'text/html; charset=utf-8' : 'application/json',
    ...turn.headers,
  });
  response.end(body);
}

async function sendRaw(turn: RawTurn, response: ServerResponse): Promise<void> {
  response.writeHead(200, turn.headers);
  for (const [index, chunk] of turn.chunks.entries()) {
    if (index > 0) await pause(turn.chunk_delay_ms, response);
    if (!(await write(response, chunk))) return;
  }
  if (turn.broken) breakOff(response);
  else response.end();
}

async function sendReply(turn: ReplyTurn, request: SeenRequest, response: ServerResponse): Promise<void> {
  const reply = concreteReply(turn, request);
  await pause(turn.first_byte_ms ?? 0, response);
  if (!request.streamed || turn.streamed === false) {
    const body = request.protocol === 'chat' ? chatObject(reply) : responsesObject(reply);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return;
  }
  const events =
    request.protocol === 'chat' ? chatEvents(reply, wantsUsage(request)) : responsesEvents(reply);
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  if (isPlain(turn)) response.end(events.join(''));
  else await sendEvents(turn, events, response);
}

/** One write is the fastest; the others need an event at a time. */
function isPlain(turn: ReplyTurn): boolean {
  return turn.break_after === undefined && turn.stall === undefined && !turn.chunk_delay_ms;
}

async function sendEvents(turn: ReplyTurn, events: string[], response: ServerResponse): Promise<void> {
  response.flushHeaders();
  for (const [index, event] of events.entries()) {
    if (index === turn.break_after) {
      breakOff(response);
      return;
    }
    if (index === turn.stall?.after) await pause(turn.stall.ms, response);
    if (index > 0) await pause(turn.chunk_delay_ms ?? 0, response);
    if (!(await write(response, event))) return;
  }
  response.end();
}

function wantsUsage(request: SeenRequest): boolean {
  const options = request.body['stream_options'];
  return typeof options === 'object' && options !== null && 'include_usage' in options;
}

/** Waits, but no longer than the client does. */
async function pause(ms: number, response: ServerResponse): Promise<void> {
  if (ms <= 0 || response.closed) return;
  const closed = new AbortController();
  const close = () => closed.abort();
  response.once('close', close);
  // An aborted sleep is the client's leaving; the next write sees that.
  await sleep(ms, undefined, { signal: closed.signal }).catch(() => undefined);
  response.off('close', close);
}

/** False when the client is gone. */
async function write(response: ServerResponse, chunk: string | Uint8Array): Promise<boolean> {
  if (response.destroyed) return false;
  if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  return !response.destroyed;
}

/** Cuts the connection after what was written has left, so that the client has got that much. */
function breakOff(response: ServerResponse): void {
  response.write('', () => response.destroy(new Error('scripted break')));
}
