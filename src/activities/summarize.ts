/**
 * The activity `summarize`: asks the model for a summary of the older part of the conversation, once. What is
 * kept beside it is decided here too and recorded with it, so that a repeated attempt gives the same.
 */
import { ApplicationFailure } from '@temporalio/common';
import { Context } from '@temporalio/activity';
import { chooseCut, type Cut, cutsOf, keptBeside } from '../domain/compaction.ts';
import { buildContext } from '../domain/context.ts';
import { contextWindow } from '../domain/contextWindow.ts';
import type { Summary } from '../domain/event.ts';
import { SUMMARY_MAX_BYTES } from '../domain/limits.ts';
import type { ContextMessage, ModelReply } from '../domain/model.ts';
import type { SessionState } from '../domain/session.ts';
import { SUMMARY_REQUEST } from '../domain/summary.ts';
import type { ContextView } from './log/archivedContext.ts';
import { explain, requestFor } from './callModel.ts';
import { tokensByEvent } from './contextSize.ts';
import type { SummarizeInput } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { callProvider } from './model/callProvider.ts';
import { modelFailure } from './model/failures.ts';
import { cutToJsonBytes } from './model/cleanText.ts';
import { withReceipt } from './model/receipts.ts';
import type { ModelRequest } from './model/request.ts';
import { shortened } from './model/shorten.ts';
import { requestTokens } from './model/tokens.ts';
import { contextDigest } from './model/wire.ts';
import { temporalRun } from './temporalRun.ts';

type Made = Summary & { notes: string[] };

export async function summarize(deps: ActivityDeps, input: SummarizeInput): Promise<Summary | null> {
  const { session_id, operation_id, through_seq } = input;
  return withHeartbeat(async (signal) => {
    const view = await deps.log.contextAt(session_id, through_seq, temporalRun());
    const whole = {
      ...requestFor(view, operation_id),
      api_key: await deps.apiKey(view.state.settings.base_url),
    };
    const tries = await triesFor(view, whole);
    if (tries.length === 0) return null;
    const record = deps.journal.operation(session_id, operation_id);
    const plan = { model: whole.model, context_digest: contextDigest(whole), tries };
    try {
      const make = async (): Promise<Made> => makeSummary(view, whole, tries, signal);
      const { notes, ...summary } = await withReceipt(record, make, {
        plan,
        attempt: Context.current().info.attempt,
      });
      return notes.length === 0 ? summary : { ...summary, notes };
    } catch (error) {
      throw explain(error, signal, whole);
    }
  });
}

/** One request for a summary: what it covers, and how long a text in it may be. */
interface Try {
  cut: Cut;
  text_max_chars: number | null;
}

/** For a step that alone is too large for the model. */
const SHORTENED_TO_CHARS = [8_000, 2_000, 500];
/** A summary of less than this share of what should be summarised is not worth a call. */
const WORTHWHILE_SHARE = 0.1;
/** Of the window: room for the summary itself and for what the tokenizer gets wrong. */
const INPUT_SHARE = 0.85;

/**
 * What to try, in order, until the provider no longer says that it is too long: the part that should be
 * summarised if it fits, its older half, the half of that, and at last a single step with its texts cut.
 */
async function triesFor(view: ContextView, whole: ModelRequest): Promise<Try[]> {
  const { state, events, complete } = view;
  const window = contextWindow(state.settings);
  const tokens = await tokensByEvent(events, whole);
  const all = cutsOf(state, events, (event) => tokens.get(event) ?? 0);
  const cuts = complete ? all : all.filter(({ through_seq }) => through_seq !== state.seq);
  const wanted = complete ? chooseCut(cuts, window) : cuts.at(-1);
  if (wanted === undefined || isTooLittle(state, all)) return [];
  const smallest = cuts.find((cut) => cut.tokens >= wanted.tokens * WORTHWHILE_SHARE) ?? wanted;
  const fixed = await requestTokens(request(view, whole, 0));
  const room = window * INPUT_SHARE - fixed;
  const halves: Try[] = [];
  let limit = room;
  for (;;) {
    const cut = cuts.findLast((candidate) => candidate.tokens <= Math.min(limit, wanted.tokens));
    if (cut === undefined || cut.tokens < smallest.tokens) break;
    halves.push({ cut, text_max_chars: null });
    limit = cut === smallest ? 0 : Math.max(cut.tokens / 2, smallest.tokens);
  }
  return [...halves, ...SHORTENED_TO_CHARS.map((chars) => ({ cut: smallest, text_max_chars: chars }))];
}

/** A summary of a summary and a few words says less and costs as much. */
function isTooLittle({ summary }: SessionState, cuts: readonly Cut[]): boolean {
  return summary !== null && (cuts.at(-1)?.tokens ?? 0) < RESUMMARISE_MIN_TOKENS;
}

const RESUMMARISE_MIN_TOKENS = 500;

async function makeSummary(
  view: ContextView,
  whole: ModelRequest,
  tries: Try[],
  signal: AbortSignal,
): Promise<Made> {
  let refusal: unknown;
  for (const [index, { cut, text_max_chars }] of tries.entries()) {
    const asked = request(view, whole, cut.through_seq);
    const messages =
      text_max_chars === null
        ? asked.messages
        : asked.messages.map((message) => shortened(message, text_max_chars));
    // Another body under the same key would be refused.
    const operation_id = index === 0 ? whole.operation_id : `${whole.operation_id}.${index}`;
    try {
      const reply = await callProvider({ ...asked, messages, operation_id }, quietly(signal));
      return await summaryOf(view, whole, cut, reply, notesOf(text_max_chars));
    } catch (error) {
      signal.throwIfAborted();
      refusal = modelFailure(error, whole);
      if ((refusal as ApplicationFailure).type !== 'model.context_too_long') throw refusal;
    }
  }
  throw refusal;
}

/** The conversation up to an event, and what is asked about it. Tools stay named: the calls in it are theirs. */
function request(view: ContextView, whole: ModelRequest, through_seq: number): ModelRequest {
  const events = view.events.filter(({ seq }) => seq <= through_seq);
  const asking: ContextMessage = { role: 'user', text: SUMMARY_REQUEST };
  return {
    ...whole,
    messages: [...buildContext(view.state, events, view.lost), asking],
    tool_choice: 'none',
  };
}

function quietly(signal: AbortSignal): Parameters<typeof callProvider>[1] {
  return { signal, onDelta: () => {}, onActivity: () => {} };
}

function notesOf(text_max_chars: number | null): string[] {
  if (text_max_chars === null) return [];
  return [
    `Texts of more than ${text_max_chars} characters were cut for the summary: a single step is larger than the model's window.`,
  ];
}

async function summaryOf(
  view: ContextView,
  whole: ModelRequest,
  { through_seq }: Cut,
  reply: ModelReply,
  notes: string[],
): Promise<Made> {
  const { state, events } = view;
  const text = reply.text.trim();
  if (text === '')
    throw ApplicationFailure.create({
      type: 'model.malformed',
      message: `Expected a summary from ${whole.model}, found no text (finish reason ${reply.finish_reason}).`,
    });
  const made = {
    through_seq,
    text: cutToJsonBytes(text, SUMMARY_MAX_BYTES),
    ...keptBeside(state, events, through_seq),
    usage: reply.usage,
  };
  const summary = { ...made, seq: state.seq + 1, tokens_before: 0, tokens_after: 0 };
  const after = { ...whole, messages: buildContext({ ...state, summary }, events) };
  const cut =
    reply.finish_reason === 'length' ? ["The summary was cut off at the model's length limit."] : [];
  return {
    ...made,
    tokens_before: await requestTokens(whole),
    tokens_after: await requestTokens(after),
    notes: [...notes, ...cut, ...reply.notes],
  };
}
