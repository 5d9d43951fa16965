/**
 * Parameters that some servers refuse and that we can do without. A 400 that names one is asked again
 * without it, and the endpoint and model are remembered for the life of the process.
 */
import { errorFacts } from './errorFacts.ts';
import type { WireBody } from './protocol.ts';
import type { ModelRequest } from './request.ts';

const OPTIONAL: readonly { name: string; named: RegExp }[] = [
  { name: 'stream_options', named: /stream_options/i },
  // "Encrypted content is not supported with this model." (OpenAI's models that don't reason)
  { name: 'include', named: /encrypted.content|\binclude\b/i },
  { name: 'tool_choice', named: /tool_choice/i },
  { name: 'store', named: /["'`[.]store\b|^store\b|\bstore: /i },
];

const refused = new Map<string, Set<string>>();

/** The body without what this endpoint has refused. */
export function withoutRefused(body: WireBody, request: ModelRequest): WireBody {
  const names = refused.get(endpointOf(request)) ?? new Set();
  const kept = Object.entries(body).filter(([name]) => !names.has(name));
  return Object.fromEntries(kept) as unknown as WireBody;
}

/** Remembers which parameter of `body` the error refuses; false when it is about something else. */
export function rememberRefusal(error: unknown, body: WireBody, request: ModelRequest): boolean {
  const { status, text } = errorFacts(error);
  if (status !== 400 && status !== 422) return false;
  const found = OPTIONAL.find(({ name, named }) => name in body && named.test(text));
  if (found === undefined) return false;
  const endpoint = endpointOf(request);
  refused.set(endpoint, (refused.get(endpoint) ?? new Set()).add(found.name));
  return true;
}

function endpointOf({ api, base_url, model }: ModelRequest): string {
  return JSON.stringify([api, base_url, model]);
}
