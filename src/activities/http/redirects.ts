/**
 * Follows redirects by hand, each step by the rules anew: only to hosts that are allowed, never from https
 * to http, and what is not a mere read, its body and its headers go to no other host than the first.
 */
import { placeOf, ruleFor, type HttpRules } from '../../host/httpRules.ts';
import { exchange, NotSent, Unanswered, type HttpMessage, type HttpResponse } from './exchange.ts';

export const REDIRECTS_MAX = 5;

/** Methods without effects (RFC 9110, section 9.2.1). */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Headers that say nothing about who asks. */
const HARMLESS = new Set(['accept', 'accept-encoding', 'accept-language', 'user-agent']);
export const KEY_HEADER = 'idempotency-key';

/** A redirect that was answered, and what was asked. */
export interface Hop {
  method: string;
  /** Without query. */
  url: string;
  status: number;
}

export interface Followed {
  response: HttpResponse;
  /** What was asked last. */
  method: string;
  url: string;
  hops: Hop[];
  /** Why the response, a redirect, was not followed. */
  note?: string;
}

export interface FollowOptions {
  rules: HttpRules;
  stop: AbortSignal;
  /** Before the first byte of the first request. */
  beforeSend: () => Promise<void>;
  /** After an answer that leads on, before the next request. */
  onHop: (hops: Hop[]) => Promise<void>;
}

export function isReading(method: string): boolean {
  return READING.has(method);
}

/** A URL for journals and evidence: queries may hold secrets. */
export function withoutQuery({ origin, pathname, search }: URL): string {
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}

/** Rejects as `exchange` does, while there is no response at all. */
export async function follow(first: HttpMessage, options: FollowOptions): Promise<Followed> {
  const { rules, stop } = options;
  const hops: Hop[] = [];
  let message = first;
  let response = await exchange(message, { stop, beforeSend: options.beforeSend });
  for (;;) {
    const { method } = message;
    const here = { response, method, url: withoutQuery(message.url), hops: [...hops] };
    const next = nextMessage(message, response, rules);
    if (next === undefined) return here;
    if (typeof next === 'string') return { ...here, note: next };
    if (hops.length === REDIRECTS_MAX)
      return { ...here, note: `more than ${REDIRECTS_MAX} redirects in a row` };
    hops.push({ method, url: here.url, status: response.status });
    await options.onHop(hops);
    try {
      response = await exchange(next, { stop, beforeSend: () => Promise.resolve() });
    } catch (error) {
      if (!(error instanceof NotSent || error instanceof Unanswered)) throw error;
      return { ...here, note: `${withoutQuery(next.url)} gave no answer (${error.message})` };
    }
    message = next;
  }
}

/** Undefined: it is no redirect. A text: why it is not followed. */
function nextMessage(
  message: HttpMessage,
  response: HttpResponse,
  rules: HttpRules,
): HttpMessage | string | undefined {
  const location = response.headers.find(([name]) => name === 'location')?.[1];
  if (![301, 302, 303, 307, 308].includes(response.status) || location === undefined) return undefined;
  if (!URL.canParse(location, message.url.href)) return 'its location is no URL';
  const url = new URL(location, message.url.href);
  const method = nextMethod(message.method, response.status);
  return refusal(message.url, url, method, rules) ?? nextRequest(message, url, method);
}

/** Fetch standard, HTTP-redirect fetch, step 12. */
function nextMethod(method: string, status: number): string {
  if (status === 303) return method === 'HEAD' ? method : 'GET';
  return (status === 301 || status === 302) && method === 'POST' ? 'GET' : method;
}

function refusal(from: URL, to: URL, method: string, rules: HttpRules): string | undefined {
  if (to.protocol !== 'http:' && to.protocol !== 'https:') return `it leads to a ${to.protocol} address`;
  if (from.protocol === 'https:' && to.protocol === 'http:') return 'it leads from https to http';
  if (to.username !== '' || to.password !== '') return 'its location holds credentials';
  if (ruleFor(rules, to) === undefined) return `it leads to ${to.host}, which is not allowed`;
  if (!isReading(method) && placeOf(from) !== placeOf(to))
    return `it leads to ${to.host}, and a ${method} goes to no other host than the first`;
  return undefined;
}

function nextRequest(message: HttpMessage, url: URL, method: string): HttpMessage {
  const same_place = placeOf(message.url) === placeOf(url);
  const keeps_body = method === message.method;
  const kept = Object.entries(message.headers).filter(([name]) => {
    if (!same_place) return HARMLESS.has(name);
    return keeps_body || !(name.startsWith('content-') || name === KEY_HEADER);
  });
  return {
    method,
    url,
    headers: Object.fromEntries(kept),
    body: keeps_body && same_place ? message.body : undefined,
  };
}
