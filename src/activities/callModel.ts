/** One model call: the context from the log, one paid request at most, the reply checked against the tools. */
import { Context } from '@temporalio/activity';
import { buildContext } from '../domain/context.ts';
import { contextWindow } from '../domain/contextWindow.ts';
import { COMPACT_AT_SHARE } from '../domain/limits.ts';
import { type ModelReply, NO_USAGE, type Usage } from '../domain/model.ts';
import type { ContextView } from './log/archivedContext.ts';
import { contextTokens } from './contextSize.ts';
import type { CallModelInput, CallModelResult, CheckedCall, ContextFull } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import { finalFailure } from './failures.ts';
import { WorkerShutdown, withHeartbeat } from './heartbeat.ts';
import { callProvider } from './model/callProvider.ts';
import { modelFailure } from './model/failures.ts';
import { withReceipt } from './model/receipts.ts';
import type { ModelRequest } from './model/request.ts';
import { messageTokens, requestTokens } from './model/tokens.ts';
import { contextDigest } from './model/wire.ts';
import { temporalRun } from './temporalRun.ts';
import { acceptCall, toolDefinitions } from './tools/registry.ts';

/** The activity `callModel`. */
export async function callModel(
  deps: ActivityDeps,
  input: CallModelInput,
): Promise<CallModelResult | ContextFull> {
  const { session_id, operation_id, through_seq } = input;
  return withHeartbeat(async (signal) => {
    const view = await deps.log.contextAt(session_id, through_seq, temporalRun());
    const request = {
      ...requestFor(view, operation_id),
      api_key: await deps.apiKey(view.state.settings.base_url),
    };
    const full = input.unchecked ? undefined : await fullness(view, request);
    if (full !== undefined) return { context_full: full };
    const context_digest = contextDigest(request);
    const record = deps.journal.operation(session_id, operation_id);
    const call = async (): Promise<ModelReply> =>
      callProvider(request, {
        signal,
        onDelta: (delta) => deps.publishDelta(session_id, { operation_id, ...delta }),
        onActivity: () => {}, // the heartbeat is withHeartbeat's
      });
    const { attempt } = Context.current().info;
    const plan = { model: request.model, context_digest };
    try {
      const reply = await withReceipt(record, call, { plan, attempt });
      const notes = [
        ...view.lost.map(({ why }) => `The model was told that events are lost: ${why}`),
        ...reply.notes,
      ];
      const estimated = reply.usage === null ? { estimated_usage: await estimateUsage(request, reply) } : {};
      return { ...resultOf({ ...reply, notes }, context_digest, operation_id), ...estimated };
    } catch (error) {
      throw explain(error, signal, request);
    }
  });
}

/** For a provider that sends no usage: a budget has to hold all the same. */
async function estimateUsage(
  request: ModelRequest,
  { text, reasoning, tool_calls }: ModelReply,
): Promise<Usage> {
  return {
    ...NO_USAGE,
    input_tokens: await requestTokens(request),
    output_tokens: await messageTokens({ role: 'assistant', text, reasoning, tool_calls }, request),
  };
}

/** How large the request is, where that is too large to be sent; undefined where it is not. */
async function fullness(
  view: ContextView,
  request: ModelRequest,
): Promise<ContextFull['context_full'] | undefined> {
  const window = contextWindow(view.state.settings);
  const limit = Math.floor(window * COMPACT_AT_SHARE);
  const tokens = await contextTokens(view, request, limit);
  return view.complete && tokens <= limit ? undefined : { tokens, window };
}

/** What a call after `view` asks of the provider, without the key. */
export function requestFor(
  { state, events, lost }: Pick<ContextView, 'state' | 'events' | 'lost'>,
  operation_id: string,
): ModelRequest {
  const { api, base_url, model } = state.settings;
  const messages = buildContext(state, events, lost);
  return { api, base_url, model, operation_id, api_key: undefined, messages, tools: toolDefinitions() };
}

/** What an attempt rejects with: as the provider failed, as the worker ends, or as it was interrupted. */
export function explain(error: unknown, signal: AbortSignal, request: ModelRequest): unknown {
  if (!signal.aborted) return modelFailure(error, request);
  const { reason } = signal as { reason: unknown };
  return reason instanceof WorkerShutdown ? finalFailure('worker.lost', reason.message) : reason;
}

function resultOf(reply: ModelReply, context_digest: string, operation_id: string): CallModelResult {
  const { text, reasoning, finish_reason, usage, notes } = reply;
  const calls = reply.tool_calls.map((call): CheckedCall => {
    const { args: _, operation_id: _own, ...accepted } = acceptCall(call, operation_id);
    return { ...accepted, arguments: call.arguments };
  });
  return { text, reasoning, calls, finish_reason, usage, notes, context_digest };
}
