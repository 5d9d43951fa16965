/** One SDK client for each endpoint and key, so that calls share their connections. */
import type OpenAI from 'openai';
import { checkedBaseUrl, providerId } from './provider.ts';
import type { ModelRequest } from './request.ts';

const clients = new Map<string, OpenAI>();

/** Endpoints in use at once; beyond that the oldest client is forgotten, and made again when needed. */
const CLIENTS_MAX = 32;
/** The longest that a Node timer takes: our own stall watch decides. */
const NEVER_MS = 2 ** 31 - 1;

/** Throws ModelCallError `bad_base_url`. The SDK is imported at the first call: it costs 130 ms. */
export async function clientFor({ base_url, api_key }: ModelRequest): Promise<OpenAI> {
  const key = JSON.stringify([base_url, api_key]);
  const known = clients.get(key);
  if (known !== undefined) return known;
  const baseURL = checkedBaseUrl(base_url);
  const { OpenAI } = await import('openai');
  const client = new OpenAI({
    baseURL,
    // The SDK wants one in any case; the header below keeps it at home.
    apiKey: api_key ?? 'none',
    adminAPIKey: null,
    // Temporal retries, by the table in failures.ts.
    maxRetries: 0,
    timeout: NEVER_MS,
    logLevel: 'off',
    ...(api_key === undefined ? { defaultHeaders: { Authorization: null } } : {}),
    // OPENAI_ORG_ID and OPENAI_PROJECT_ID are nobody else's business.
    ...(providerId(base_url) === 'openai' ? {} : { organization: null, project: null }),
  });
  const [oldest] = clients.keys();
  if (clients.size >= CLIENTS_MAX && oldest !== undefined) clients.delete(oldest);
  clients.set(key, client);
  return client;
}
