/** The one table from what a provider does to what the workflow decides by. */
import { ApplicationFailure } from '@temporalio/common';
import type { FailureType } from '../../domain/failure.ts';
import { cleanText, cutToJsonBytes } from './cleanText.ts';
import { isContextTooLong } from './contextLength.ts';
import { errorFacts, type ErrorFacts } from './errorFacts.ts';
import type { ModelRequest } from './request.ts';
import { retryAfterMs } from './retryAfter.ts';

/** Of the provider's own words. */
const QUOTED_MAX_BYTES = 1024;
/** A shorter key is no key, and replacing it would garble the text. */
const KEY_MIN_CHARS = 8;

type Endpoint = Pick<ModelRequest, 'base_url' | 'api_key' | 'model'>;

interface Row {
  type: FailureType;
  retryable: boolean;
  when: (facts: ErrorFacts) => boolean;
  what: string;
  remedy: (endpoint: Endpoint) => string;
}

/**
 * Turns any error of a model call, one that was turned before included, into the failure that the activity throws: `type`, `nonRetryable`,
 * `nextRetryDelay` where the provider asked for one, and `details: [{remedy}]`. It never holds the key.
 */
export function modelFailure(error: unknown, endpoint: Endpoint, now = Date.now()): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  const facts = errorFacts(error);
  const row = TABLE.find(({ when }) => when(facts)) ?? OTHERWISE;
  const delay = row.retryable ? retryAfterMs(facts.headers, now) : undefined;
  return ApplicationFailure.create({
    type: row.type,
    nonRetryable: !row.retryable,
    message: `${row.what} (${subject(endpoint, facts)}): ${quoted(facts, endpoint)}`,
    details: [{ remedy: row.remedy(endpoint) }],
    ...(delay === undefined ? {} : { nextRetryDelay: delay }),
    // The cause is not passed on: an SDK error holds the request's headers.
  });
}

/** In this order: the first row that fits. */
const TABLE: readonly Row[] = [
  {
    type: 'model.unavailable',
    retryable: true,
    when: ({ isFile }) => isFile,
    what: 'The journal of model calls could not be used',
    remedy: () =>
      "Free space in HOLDFAST_HOME on the worker's host, or make it writable, then send a message.",
  },
  {
    type: 'model.auth',
    retryable: false,
    when: ({ kind }) => kind === 'missing_key',
    what: 'The model can not be called without a key',
    remedy: keyRemedy,
  },
  {
    type: 'model.bad_request',
    retryable: false,
    when: ({ kind }) => kind === 'bad_base_url',
    what: 'The base URL is none',
    remedy: () =>
      'Set the base URL of an OpenAI-compatible server, with its version path, then send a message.',
  },
  {
    type: 'model.stalled',
    retryable: true,
    when: ({ kind, network }) =>
      kind === 'stalled' || network === 'UND_ERR_HEADERS_TIMEOUT' || network === 'UND_ERR_BODY_TIMEOUT',
    what: 'The model stopped answering',
    remedy: waitRemedy,
  },
  {
    type: 'model.malformed',
    retryable: true,
    when: ({ kind }) => kind === 'malformed',
    what: "The model's reply could not be read",
    remedy: ({ base_url }) =>
      `Check that ${place(base_url)} is the base URL of an OpenAI-compatible server, with its version path (…/v1), and that the API setting (responses or chat) is one that it speaks.`,
  },
  {
    type: 'model.context_too_long',
    retryable: false,
    when: isContextTooLong,
    what: 'The conversation is too long for the model',
    remedy: ({ model }) => `Choose a model with a larger context than ${model}, or begin a new session.`,
  },
  {
    type: 'model.quota_exhausted',
    retryable: false,
    when: ({ status, codes }) =>
      status === 402 || /insufficient_quota|insufficient_balance|billing/.test(codes),
    what: 'The account at the model provider has no quota left',
    remedy: ({ base_url }) =>
      `Add credit or raise the limit of the account at ${place(base_url)}, then send a message.`,
  },
  {
    type: 'model.auth',
    retryable: false,
    when: (facts) =>
      facts.status === 401 ||
      facts.status === 403 ||
      says(facts, /invalid_api_key|authentication|permission/),
    what: 'The model provider refused the key',
    remedy: keyRemedy,
  },
  {
    type: 'model.not_found',
    retryable: false,
    when: ({ status, codes }) => status === 404 || /model_not_found/.test(codes),
    what: 'The model provider does not know this model or address',
    remedy: ({ base_url, model }) =>
      `Check the model's name (${model}), the base URL (${place(base_url)}) and whether the server speaks the chosen API (responses or chat).`,
  },
  {
    type: 'model.rate_limited',
    retryable: true,
    when: (facts) =>
      [408, 409, 429].includes(facts.status ?? 0) || says(facts, /rate_limit|too_many_requests/),
    what: 'The model provider asks to slow down',
    remedy: () =>
      'It was tried again as often as is sensible. Wait, or raise the rate limit at the provider, then send a message.',
  },
  {
    type: 'model.bad_request',
    retryable: false,
    when: (facts) =>
      isBetween(facts.status, 400, 499) || says(facts, /invalid_request|invalid_prompt|bad_request/),
    what: 'The model provider refused the request',
    remedy: () =>
      "Read the provider's words. The session is intact: change the model or its settings and send a message.",
  },
];

/** 5xx, refused and broken connections, streams that ended early, and whatever nobody has seen yet. */
const OTHERWISE: Row = {
  type: 'model.unavailable',
  retryable: true,
  when: () => true,
  what: 'The model could not be reached or failed',
  remedy: waitRemedy,
};

/** The command line stores the key of its environment for the worker (host/credentials.ts). */
function keyRemedy({ base_url }: Endpoint): string {
  const address = base_url === null ? '' : ` (and OPENAI_BASE_URL to ${place(base_url)})`;
  return `Set OPENAI_API_KEY to a valid key for ${place(base_url)}${address}, then send a message.`;
}

function waitRemedy({ base_url }: Endpoint): string {
  return `It was tried several times. Check that ${place(base_url)} works and can be reached from the worker's host, then send a message: the session goes on where it was.`;
}

function place(base_url: string | null): string {
  if (base_url === null) return 'api.openai.com';
  if (!URL.canParse(base_url)) return JSON.stringify(base_url);
  // A URL may carry a password or a token.
  const { origin, pathname } = new URL(base_url);
  return origin + pathname;
}

function subject({ base_url, model }: Endpoint, { status, network, headers }: ErrorFacts): string {
  const id = headers?.get('x-request-id');
  const facts = [
    `${model} at ${place(base_url)}`,
    status && `HTTP ${status}`,
    network,
    id && `request ${id}`,
  ];
  return facts.filter(Boolean).join(', ');
}

function quoted({ text }: ErrorFacts, { api_key }: Endpoint): string {
  const secretless =
    api_key !== undefined && api_key.length >= KEY_MIN_CHARS ? text.replaceAll(api_key, '[key]') : text;
  return cutToJsonBytes(cleanText(secretless), QUOTED_MAX_BYTES) || 'no explanation was given.';
}

/** Codes count where there is no status: with one, a server's own idea of a type proves nothing. */
function says({ status, codes }: ErrorFacts, known: RegExp): boolean {
  return status === undefined && known.test(codes);
}

function isBetween(status: number | undefined, low: number, high: number): boolean {
  return status !== undefined && status >= low && status <= high;
}
