/** Requests and events for the tests of model calls. */
import { ApplicationFailure } from '@temporalio/common';
import type { ModelApi } from '../../../src/domain/model.ts';
import { callProvider } from '../../../src/activities/model/callProvider.ts';
import type { ModelCallOptions, ModelDelta, ModelRequest } from '../../../src/activities/model/request.ts';

export const APIS: ModelApi[] = ['chat', 'responses'];

export function requestTo(url: string, api: ModelApi, changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    api,
    base_url: url,
    api_key: 'sk-secret-of-the-test',
    model: 'm',
    messages: [
      { role: 'system', text: 'be brief' },
      { role: 'user', text: 'go' },
    ],
    tools: [],
    operation_id: 'k3v9x2m7q4ta.r1.s1.0',
    ...changes,
  };
}

export function quietly(changes: Partial<ModelCallOptions> = {}): ModelCallOptions {
  return { signal: new AbortController().signal, onDelta: () => {}, onActivity: () => {}, ...changes };
}

/** Calls and keeps what was shown on the way. */
export async function callAndWatch(request: ModelRequest) {
  const deltas: ModelDelta[] = [];
  const reply = await callProvider(request, quietly({ onDelta: (delta) => deltas.push(delta) }));
  const shown = (kind: ModelDelta['kind']) =>
    deltas
      .filter((delta) => delta.kind === kind)
      .map(({ text }) => text)
      .join('');
  return { reply, deltas, shown };
}

/** The failure of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<ApplicationFailure> {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (error instanceof ApplicationFailure) return error;
  throw new Error(`expected an ApplicationFailure, found ${String(error)}`);
}

/** A server-sent event. */
export function sse(json: unknown): string {
  return `data: ${JSON.stringify(json)}\n\n`;
}

/** A chat chunk with one delta. */
export function chunk(delta: object, finish_reason: string | null = null): object {
  return { choices: [{ index: 0, delta, finish_reason }] };
}
