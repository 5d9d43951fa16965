/**
 * One request and its response, over a connection of its own. Node's own http, not fetch: here it is known
 * whether anything has left this host, nothing is followed, pooled, proxied or authorized behind the back.
 */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** What of a body is read; the rest is left unread. */
export const RESPONSE_MAX_BYTES = 8 * 1024 * 1024;
/** For name, connection and TLS together. */
export const CONNECT_TIMEOUT_MS = 15_000;

export interface HttpMessage {
  method: string;
  url: URL;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: Buffer | undefined;
}

export interface HttpResponse {
  status: number;
  status_text: string;
  /** As they came, names in lower case. */
  headers: [string, string][];
  body: Buffer;
  /** Why `body` is not all of it. */
  cut?: string;
}

/** No byte of the request has left. */
export class NotSent extends Error {
  override name = 'NotSent';
}

/** It has left, at least in part, and no response came. */
export class Unanswered extends Error {
  override name = 'Unanswered';
}

export interface ExchangeOptions {
  /** Ends it; its reason's message says why. */
  stop: AbortSignal;
  /** Called when the connection stands, right before the first byte is written; if it rejects, none is. */
  beforeSend: () => Promise<void>;
}

/** Rejects with NotSent, Unanswered, or what `beforeSend` rejects with. */
export async function exchange(message: HttpMessage, options: ExchangeOptions): Promise<HttpResponse> {
  const socket = await connected(message.url, options.stop);
  try {
    await options.beforeSend();
    if (options.stop.aborted) throw new NotSent(reasonOf(options.stop));
    return await sent(message, socket, options.stop);
  } finally {
    socket.destroy();
  }
}

async function connected(url: URL, stop: AbortSignal): Promise<Socket> {
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const place = { host, port: Number(url.port || (secure ? 443 : 80)) };
  const limit = AbortSignal.any([stop, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]);
  // No environment variable turns the check of certificates off.
  const socket = secure
    ? connectTls({ ...place, rejectUnauthorized: true, ALPNProtocols: ['http/1.1'], ...serverName(host) })
    : connectTcp(place);
  socket.on('error', () => {}); // one that comes while nobody waits must not end the worker
  try {
    await once(socket, secure ? 'secureConnect' : 'connect', { signal: limit });
    return socket;
  } catch (error) {
    socket.destroy();
    if (stop.aborted) throw new NotSent(reasonOf(stop));
    if (limit.aborted) throw new NotSent(`no connection within ${CONNECT_TIMEOUT_MS} ms`);
    throw new NotSent(wordsOf(error));
  }
}

/** An address is no name for TLS (RFC 6066, section 3). */
function serverName(host: string): { servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host };
}

async function sent(message: HttpMessage, socket: Socket, stop: AbortSignal): Promise<HttpResponse> {
  const { method, url, headers, body } = message;
  const request = httpRequest({
    method,
    path: url.pathname + url.search,
    headers: { ...headers, host: url.host, connection: 'close', ...lengthOf(method, body) },
    createConnection: () => socket,
  });
  const end = (): void => {
    request.destroy(new Error(reasonOf(stop)));
  };
  stop.addEventListener('abort', end);
  try {
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    request.on('error', () => {}); // after the response it is the body's reader that is told
    request.end(body);
    const [response] = await answered;
    return await received(response);
  } catch (error) {
    throw new Unanswered(wordsOf(error));
  } finally {
    stop.removeEventListener('abort', end);
  }
}

function lengthOf(method: string, body: Buffer | undefined): Record<string, string> {
  if (body !== undefined) return { 'content-length': String(body.byteLength) };
  return method === 'POST' || method === 'PUT' || method === 'PATCH' ? { 'content-length': '0' } : {};
}

/** With the status here, a body that breaks off is no reason to say that there was no answer. */
async function received(response: IncomingMessage): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let cut: string | undefined;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > RESPONSE_MAX_BYTES) break;
    }
    if (bytes > RESPONSE_MAX_BYTES) cut = `only the first ${RESPONSE_MAX_BYTES} bytes were read`;
  } catch (error) {
    cut = `it broke off (${wordsOf(error)})`;
  }
  return {
    status: response.statusCode ?? 0,
    status_text: response.statusMessage ?? '',
    headers: pairsOf(response.rawHeaders),
    body: Buffer.concat(chunks).subarray(0, RESPONSE_MAX_BYTES),
    ...(cut !== undefined && { cut }),
  };
}

function pairsOf(raw: string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2)
    pairs.push([(raw[at] ?? '').toLowerCase(), raw[at + 1] ?? '']);
  return pairs;
}

function reasonOf(stop: AbortSignal): string {
  return stop.reason instanceof Error ? stop.reason.message : String(stop.reason);
}

function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(wordsOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
