/**
 * http_request: one request to a service that the user has allowed, sent at most once unless repeating it
 * does no harm.
 *
 * Not protected: the rules are about names and ports. What address a name resolves to is not looked at, so
 * whoever controls the name of an allowed host can lead a request into the private network (DNS rebinding).
 */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod';
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { EffectClass, ToolOutcome } from '../../domain/tool.ts';
import { ruleFor, type HttpRules } from '../../host/httpRules.ts';
import { SettingsError } from '../../host/settingsFile.ts';
import { RESPONSE_MAX_BYTES, type HttpMessage } from '../http/exchange.ts';
import { receiptOutcome } from '../http/receiptOutcome.ts';
import { reconcileRequest } from '../http/reconcileRequest.ts';
import { isReading, KEY_HEADER, REDIRECTS_MAX, withoutQuery } from '../http/redirects.ts';
import { readOnce, sendOnce } from '../http/sendOnce.ts';
import { stopSignal } from '../http/stopSignal.ts';
import { throwOnShutdown } from '../runner/wait.ts';
import { Refusal, settle } from '../workspace/refusal.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { repeatable, targetLine } from './wording.ts';

const NAME = 'http_request';
/** For all of it, redirects included: below the 5 min that an activity that reads may take. */
const REQUEST_TIMEOUT_MS = 120_000;
const HEADERS_MAX = 50;
const URL_MAX_CHARS = 8_000;
/** The connection's own, and the key, which is the operation's. */
const RESERVED = new Set([
  KEY_HEADER,
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const parameters = z.strictObject({
  method: z.enum(METHODS),
  url: z
    .string()
    .max(URL_MAX_CHARS)
    .refine(isPlainUrl, 'Expected an http or https URL without a user name, a password or a fragment.')
    .describe('Absolute, http or https.'),
  headers: z
    .record(z.string(), z.string())
    .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, `At most ${HEADERS_MAX} headers.`)
    .refine(
      (headers) => Object.entries(headers).every(([name, value]) => isHeader(name, value)),
      'Expected names and values that HTTP allows.',
    )
    .refine(
      (headers) => Object.keys(headers).every((name) => !RESERVED.has(name.toLowerCase())),
      `These are set by the tool itself: ${[...RESERVED].join(', ')}.`,
    )
    .optional()
    .describe('What the service needs, content-type with a body. Nothing is added from the environment.'),
  body: z.string().optional().describe('Sent as UTF-8. Not with GET, HEAD or OPTIONS.'),
});

const schema = parameters.refine(
  ({ method, body }) => body === undefined || !isReading(method),
  'GET, HEAD and OPTIONS have no body: leave it out, or use another method.',
);
type Args = z.infer<typeof schema>;

export const httpRequest = defineTool<Args>({
  name: NAME,
  description: [
    'Sends one HTTP request and returns status, headers and body. Only hosts that the user has allowed can be reached.',
    'An answer of 400 or more is a failed call. Every request that may have an effect carries its own Idempotency-Key.',
    `Up to ${REDIRECTS_MAX} redirects are followed, to allowed hosts only, and never with a body or an effect to another host.`,
    `All of it may take ${REQUEST_TIMEOUT_MS} ms. ${RESPONSE_MAX_BYTES} bytes of a body are read; of more than ${OUTPUT_MAX_BYTES} bytes head and tail are shown and the whole is kept for read_output; what is no text is described.`,
  ].join(' '),
  schema,
  effect: ({ method }) => effectOf(method),
  target: ({ method, url }) => targetLine(`${method} ${withoutQuery(new URL(url))}`),
  run: (args, context) => settle(() => run(args, context)),
  reconcile: (args, context) =>
    isReading(args.method) ? repeatable(NAME)() : reconcileRequest(args.method, new URL(args.url), context),
});

/** By the method alone: what is configured is known on the workspace's host only, and `reconcile` asks there. */
function effectOf(method: Args['method']): EffectClass {
  if (isReading(method)) return 'read';
  return method === 'PUT' || method === 'DELETE' ? 'idempotent' : 'side_effect';
}

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  throwOnShutdown(context.signal);
  const message = messageOf(args, context.operation.operation_id);
  const rules = await readRules(context);
  if (ruleFor(rules, message.url) === undefined) throw new Refusal(notAllowed(message.url, rules));
  if (context.signal.aborted)
    return { status: 'cancelled', output: 'Nothing was sent: the run was interrupted first.' };
  using stop = stopSignal(context.signal, REQUEST_TIMEOUT_MS);
  const options = { rules, stop: stop.signal };
  const receipt = isReading(args.method)
    ? await readOnce(message, options, context)
    : await sendOnce(message, options, NAME, context);
  return receiptOutcome(receipt, context);
}

async function readRules(context: ToolContext): Promise<HttpRules> {
  try {
    return await context.httpRules();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new Refusal(
      `Nothing was sent: which hosts are allowed can't be read. ${error.message} ${error.remedy}`,
    );
  }
}

function notAllowed(url: URL, { allow, file }: HttpRules): string {
  const example = JSON.stringify({ http: { allow: [{ host: url.host }] } });
  const now = allow.length === 0 ? 'nothing' : allow.map(({ host }) => host).join(', ');
  return `Nothing was sent: ${url.host} is not allowed. Only the user can allow it, in ${file}: ${example}. Allowed now: ${now}.`;
}

function messageOf(args: Args, operation_id: string): HttpMessage {
  const given = Object.entries(args.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    method: args.method,
    url: new URL(args.url),
    headers: {
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'holdfast',
      ...Object.fromEntries(given),
      ...(isReading(args.method) ? {} : { [KEY_HEADER]: operation_id }),
    },
    body: args.body === undefined ? undefined : Buffer.from(args.body),
  };
}

function isPlainUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && url.hash === '';
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
