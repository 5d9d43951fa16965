/** Sends a request that may have an effect, with a proof of each step before the next. */
import { createHash } from 'node:crypto';
import type { BlobStore } from '../journal/blobs.ts';
import type { ToolContext } from '../tools/tool.ts';
import { throwOnShutdown } from '../runner/wait.ts';
import { NotSent, Unanswered, type HttpMessage } from './exchange.ts';
import { HttpProofs, type HttpPlan, type Receipt, type Sent } from './proofs.ts';
import { follow, withoutQuery, type Followed, type FollowOptions } from './redirects.ts';

type Options = Pick<FollowOptions, 'rules' | 'stop'>;

/** Resolves with the receipt, which is on disk by then. Rejects with Fenced, or the reason of a shutdown. */
export async function sendOnce(
  message: HttpMessage,
  options: Options,
  tool: string,
  context: ToolContext,
): Promise<Receipt> {
  const { operation, attempt, worker } = context;
  const proofs = new HttpProofs(operation, attempt);
  await operation.recordIntent<HttpPlan>(tool, attempt, planOf(message));
  await operation.enterGate(attempt, worker);
  const receipt = await exchanged(message, context, {
    ...options,
    markSent: () => proofs.markSent(worker),
    onHop: (hops) => proofs.writeHops(hops),
  });
  await proofs.writeReceipt(receipt);
  return receipt;
}

/** The same without proofs: a mere read is simply repeated. */
export async function readOnce(
  message: HttpMessage,
  options: Options,
  context: ToolContext,
): Promise<Receipt> {
  return exchanged(message, context, {
    ...options,
    markSent: () => Promise.resolve({ at: new Date().toISOString(), worker: context.worker }),
    onHop: () => Promise.resolve(),
  });
}

interface ExchangedOptions extends Options {
  markSent: () => Promise<Sent>;
  onHop: FollowOptions['onHop'];
}

/** What came of it; having no answer is something that came of it, too. */
async function exchanged(
  message: HttpMessage,
  { signal, blobs }: ToolContext,
  { rules, stop, markSent, onHop }: ExchangedOptions,
): Promise<Receipt> {
  let sent: Sent | undefined;
  const beforeSend = async (): Promise<void> => {
    throwOnShutdown(signal);
    sent = await markSent();
  };
  try {
    return await answered(await follow(message, { rules, stop, beforeSend, onHop }), blobs);
  } catch (error) {
    if (!(error instanceof NotSent || error instanceof Unanswered)) throw error;
    // A worker that stops knows less than its reconciler will: it claims nothing.
    throwOnShutdown(signal);
    const { method, url } = message;
    const told = { method, url: withoutQuery(url), why: error.message, interrupted: signal.aborted };
    return error instanceof NotSent || sent === undefined
      ? { kind: 'not_sent', ...told }
      : { kind: 'unanswered', sent_at: sent.at, ...told };
  }
}

/** The receipt of a response; its body is stored first. */
async function answered(followed: Followed, blobs: BlobStore): Promise<Receipt> {
  const { response, method, url, hops, note } = followed;
  const { status, status_text, cut } = response;
  return {
    kind: 'answered',
    method,
    url,
    status,
    status_text,
    // Cookies are keys to an account.
    headers: response.headers.map(([name, value]) => [name, name === 'set-cookie' ? '(not kept)' : value]),
    body: await blobs.put(response.body),
    hops,
    ...(cut !== undefined && { cut }),
    ...(note !== undefined && { note }),
  };
}

function planOf({ method, url, headers, body }: HttpMessage): HttpPlan {
  return {
    method,
    url: withoutQuery(url),
    header_names: Object.keys(headers),
    body_bytes: body?.byteLength ?? 0,
    body_sha256: body === undefined ? null : createHash('sha256').update(body).digest('hex'),
  };
}
