/** One call of a model: sent, watched, folded; or one failure that says what to do. */
import { ModelCallError } from './callError.ts';
import { bodyEvents, type BodyEvent } from './bodyEvents.ts';
import { clientFor } from './client.ts';
import { DeltaJoiner } from './deltas.ts';
import { modelFailure } from './failures.ts';
import { placeholderNotes, rememberMissing, withPlaceholders } from './missingReasoning.ts';
import { rememberRefusal, withoutRefused } from './optionalParameters.ts';
import { beginFold, send, wireBody, type ReplyFold } from './protocol.ts';
import { providerId } from './provider.ts';
import { finishReply, type ReplyDraft } from './replyDraft.ts';
import { STALL_TIMEOUT_MS, type ModelCallOptions, type ModelDelta, type ModelRequest } from './request.ts';
import { responseTexts, StallWatch } from './responseTexts.ts';
import type { ModelReply } from '../../domain/model.ts';

/** After the reply its usage may come; a server that then says nothing has nothing more to say. */
const USAGE_GRACE_MS = 3_000;

/**
 * Calls the model once, with no retry of its own. Resolves with the whole reply or rejects with an
 * ApplicationFailure whose type is one of the `model.…` of domain/failure.ts (failures.ts has the table).
 * Rejects with `options.signal.reason` when aborted: that is no failure.
 */
export async function callProvider(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
  options.signal.throwIfAborted();
  try {
    return await attempt(request, options);
  } catch (error) {
    options.signal.throwIfAborted();
    throw modelFailure(error, request);
  }
}

async function attempt(request: ModelRequest, options: ModelCallOptions): Promise<ModelReply> {
  if (request.api_key === undefined && providerId(request.base_url) === 'openai') {
    throw new ModelCallError('missing_key', 'No API key is known for api.openai.com.');
  }
  const stalled = new AbortController();
  const watch = new StallWatch(options.stallTimeoutMs ?? STALL_TIMEOUT_MS, () => stalled.abort());
  const signal = AbortSignal.any([options.signal, stalled.signal]);
  const fold = beginFold(request.api);
  const notes: string[] = [];
  try {
    const response = await sendRequest(request, signal, notes);
    watch.touch();
    await readReply(response, fold, watch, options);
  } catch (error) {
    if (fold.progress() === 'open') throw stalled.signal.aborted ? stallError(error) : error;
    // A reply that is there is paid for, whatever became of the connection after it.
    notes.push(`The reply was whole when its stream failed: ${String(error)}`);
  } finally {
    watch.stop();
  }
  const draft = fold.draft();
  const maker = { provider: providerId(request.base_url), model: request.model };
  return finishReply({ ...draft, notes: [...notes, ...draft.notes] }, maker);
}

async function sendRequest(request: ModelRequest, signal: AbortSignal, notes: string[]): Promise<Response> {
  const client = await clientFor(request);
  const headers = { 'Idempotency-Key': request.operation_id };
  const whole = wireBody(request);
  for (;;) {
    const body = withPlaceholders(withoutRefused(whole, request), request);
    try {
      const response = await send(client, body, { headers, signal });
      notes.push(...placeholderNotes(body, request));
      return response;
    } catch (error) {
      // Ends: each round takes one parameter away, or finds once that reasoning is missing.
      if (rememberRefusal(error, body, request) || rememberMissing(error, body, request)) continue;
      throw error;
    }
  }
}

async function readReply(
  response: Response,
  fold: ReplyFold,
  watch: StallWatch,
  options: ModelCallOptions,
): Promise<void> {
  const deltas = new DeltaJoiner(options.onDelta);
  const texts = responseTexts(response, () => {
    watch.touch();
    options.onActivity();
  });
  let ended = false;
  for await (const event of bodyEvents(texts)) {
    ended = event.kind !== 'event';
    if (event.kind === 'done') break;
    const before = fold.progress();
    takeEvent(event, fold).forEach((delta) => deltas.push(delta));
    if (fold.progress() === 'whole') break;
    if (before === 'open' && fold.progress() === 'enough') watch.shorten(USAGE_GRACE_MS);
  }
  deltas.end();
  if (!isWhole(fold, ended)) {
    throw new ModelCallError('broken', "The model's reply ended before it was whole.");
  }
}

function takeEvent(event: Exclude<BodyEvent, { kind: 'done' }>, fold: ReplyFold): ModelDelta[] {
  return event.kind === 'whole' ? fold.pushWhole(event.json) : fold.push(event.json);
}

/** `ended`: by `[DONE]` or the end of one object, so that a missing finish reason is the server's habit. */
function isWhole(fold: ReplyFold, ended: boolean): boolean {
  return fold.progress() !== 'open' || (ended && isPlausible(fold.draft()));
}

function isPlausible({ text, refusal, calls }: ReplyDraft): boolean {
  return text + refusal !== '' || (calls.length > 0 && calls.every(({ args }) => isJson(args)));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function stallError(cause: unknown): ModelCallError {
  return new ModelCallError('stalled', 'The model sent nothing for too long.', { cause });
}
