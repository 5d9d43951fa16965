/** One model call: the context from the log, one paid request at most, the reply checked against the tools. */
import { createHash } from 'node:crypto';
import { buildContext } from '../domain/context.ts';
import type { ModelReply } from '../domain/model.ts';
import type { CallModelInput, CallModelResult, CheckedCall } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import { finalFailure } from './failures.ts';
import { WorkerShutdown, withHeartbeat } from './heartbeat.ts';
import { modelFailure } from './model/failure.ts';
import { callProvider } from './model/provider.ts';
import type { ProviderRequest } from './model/provider.ts';
import { withReceipt } from './model/receipts.ts';
import { wireMessages } from './model/wire.ts';
import { acceptCall, toolDefinitions } from './tools/registry.ts';
import type { SessionView } from './sessionLog.ts';

/** The activity `callModel`. */
export async function callModel(deps: ActivityDeps, input: CallModelInput): Promise<CallModelResult> {
  const { session_id, operation_id, through_seq } = input;
  return withHeartbeat(async (signal) => {
    const view = await deps.log.at(session_id, through_seq);
    const api_key = await deps.apiKey(view.state.settings.base_url);
    const request: ProviderRequest = { ...requestFor(view, operation_id), api_key };
    const reply = await withReceipt(deps.journal.operation(session_id, operation_id), async () =>
      callProvider(request, {
        signal,
        onDelta: (delta) => deps.publishDelta(session_id, { operation_id, ...delta }),
      }),
    ).catch((error: unknown) => {
      throw explain(error, signal);
    });
    return resultOf(reply, digestOf(request), operation_id);
  });
}

/** What a call after `view` asks of the provider, without the key. */
export function requestFor({ state, events }: SessionView, operation_id: string): ProviderRequest {
  const { api, base_url, model } = state.settings;
  return {
    api,
    base_url,
    model,
    operation_id,
    api_key: undefined,
    messages: buildContext(state, events),
    tools: toolDefinitions(),
  };
}

/** sha256 of the messages as they go over the wire: what the model saw can be audited by it. */
export function digestOf(request: ProviderRequest): string {
  return createHash('sha256')
    .update(JSON.stringify(wireMessages(request)))
    .digest('hex');
}

function explain(error: unknown, signal: AbortSignal): unknown {
  if (!signal.aborted) return modelFailure(error);
  const { reason } = signal as { reason: unknown };
  return reason instanceof WorkerShutdown ? finalFailure('worker.lost', reason.message) : error;
}

function resultOf(reply: ModelReply, context_digest: string, operation_id: string): CallModelResult {
  const { text, reasoning, finish_reason, usage, notes } = reply;
  const calls = reply.tool_calls.map((call): CheckedCall => {
    const { args: _, operation_id: _own, ...accepted } = acceptCall(call, operation_id);
    return { ...accepted, arguments: call.arguments };
  });
  return { text, reasoning, calls, finish_reason, usage, notes, context_digest };
}
