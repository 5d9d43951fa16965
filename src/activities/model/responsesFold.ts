/**
 * Responses events to a reply. An item's own deltas build it up and its `done` event settles it.
 * Format: https://platform.openai.com/docs/api-reference/responses-streaming
 */
import type { FinishReason, Usage } from '../../domain/model.ts';
import { asCount, asList, asRecord, asText, type JsonRecord } from './json.ts';
import type { ReplyDraft } from './replyDraft.ts';
import type { ModelDelta } from './request.ts';
import { changeItem, itemOf, placeOfItem, type OutputItem } from './responsesItems.ts';

export interface ResponsesState {
  items: OutputItem[];
  /** The response object of the last event, once it came. */
  final: JsonRecord | null;
}

export const EMPTY_RESPONSES: ResponsesState = { items: [], final: null };

/** The state after one more event. A whole response object is given as `response.completed`. */
export function foldResponsesEvent(state: ResponsesState, event: unknown): ResponsesState {
  const record = asRecord(event);
  const delta = asText(record['delta']);
  switch (record['type']) {
    case 'response.output_item.added':
    case 'response.output_item.done':
      return { ...state, items: settleItem(state.items, record) };
    case 'response.output_text.delta':
      return change(state, record, 'message', (item) => ({ ...item, text: item.text + delta }));
    case 'response.refusal.delta':
      return change(state, record, 'message', (item) => ({ ...item, refusal: item.refusal + delta }));
    case 'response.function_call_arguments.delta':
      return change(state, record, 'function_call', (item) => ({ ...item, args: item.args + delta }));
    case 'response.function_call_arguments.done':
      return change(state, record, 'function_call', (item) => ({
        ...item,
        args: asText(record['arguments']) || item.args,
      }));
    case 'response.completed':
    case 'response.incomplete':
      return finish(state, asRecord(record['response']));
    default:
      return state;
  }
}

/** What one event has to show. */
export function responsesDeltas(event: unknown): ModelDelta[] {
  const { type, delta } = asRecord(event);
  const kind = DELTA_KINDS[asText(type)];
  const text = asText(delta);
  return kind === undefined || text === '' ? [] : [{ kind, text }];
}

/** The reply as far as it came. */
export function responsesDraft({ items, final }: ResponsesState): ReplyDraft {
  const messages = items.filter(({ type }) => type === 'message');
  const calls = items.filter(({ type }) => type === 'function_call');
  const { finish, note } = finishOf(asRecord(final), calls.length > 0);
  const strange = items.filter(({ type }) => !['message', 'function_call', 'reasoning'].includes(type));
  return {
    text: messages.map(({ text }) => text).join(''),
    refusal: messages.map(({ refusal }) => refusal).join(''),
    calls: calls.map(({ call_id, name, args }) => ({ id: call_id, name, args })),
    reasoning: layoutOf(items),
    usage: usageOf(final?.['usage']),
    finish,
    notes: [
      ...note,
      ...strange.map(({ type }) => `An output item of type ${JSON.stringify(type)} was ignored.`),
    ],
  };
}

const DELTA_KINDS: Record<string, ModelDelta['kind']> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'text',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
  'response.function_call_arguments.delta': 'tool_arguments',
};

function change(
  state: ResponsesState,
  event: JsonRecord,
  type: string,
  update: (item: OutputItem) => OutputItem,
): ResponsesState {
  return { ...state, items: changeItem(state.items, event, type, update) };
}

function settleItem(items: OutputItem[], event: JsonRecord): OutputItem[] {
  const raw = asRecord(event['item']);
  const done = event['type'] === 'response.output_item.done';
  const fresh = itemOf(raw, event, done);
  const place = placeOfItem(items, { ...event, item_id: raw['id'] });
  const known = items[place];
  if (known === undefined) return [...items, fresh];
  // A server may leave out of the whole item what its deltas have said.
  return items.with(place, {
    ...fresh,
    text: fresh.text || known.text,
    refusal: fresh.refusal || known.refusal,
    args: fresh.args || known.args,
    name: fresh.name || known.name,
    call_id: fresh.call_id || known.call_id,
  });
}

/** The final object repeats all items, or none; it is needed where the stream did not settle its items. */
function finish(state: ResponsesState, final: JsonRecord): ResponsesState {
  const output = asList(final['output']).map(asRecord);
  const settled = state.items.length > 0 && state.items.every(({ done }) => done);
  if (settled || output.length === 0) return { ...state, final };
  return { items: output.map((raw, output_index) => itemOf(raw, { output_index }, true)), final };
}

/**
 * The opaque items: reasoning as it came and, where there is any, markers for what stood between
 * (responsesWire.ts puts them together again). `phase` must go back too, says OpenAI for its Codex models.
 */
function layoutOf(items: OutputItem[]): unknown[] {
  const layout = items.flatMap((item) => {
    if (item.type === 'reasoning') return item.done ? [item.raw] : [];
    if (item.type === 'function_call') return [{ type: 'function_call' }];
    const { phase } = item.raw;
    return [{ type: 'message', chars: item.text.length, ...(typeof phase === 'string' ? { phase } : {}) }];
  });
  const worth = layout.some((item) => item['type'] === 'reasoning' || 'phase' in item);
  return worth ? layout : [];
}

function finishOf(final: JsonRecord, hasCalls: boolean): { finish: FinishReason; note: string[] } {
  if (final['status'] !== 'incomplete') return { finish: hasCalls ? 'tool_calls' : 'stop', note: [] };
  const reason = asText(asRecord(final['incomplete_details'])['reason']);
  if (reason === 'max_output_tokens' || reason === 'max_tokens') return { finish: 'length', note: [] };
  if (reason === 'content_filter') return { finish: 'content_filter', note: [] };
  return {
    finish: 'unknown',
    note: [`The response is incomplete for the reason ${JSON.stringify(reason)}.`],
  };
}

function usageOf(value: unknown): Usage | null {
  if (typeof value !== 'object' || value === null) return null;
  const usage = asRecord(value);
  return {
    input_tokens: asCount(usage['input_tokens']),
    cached_input_tokens: asCount(asRecord(usage['input_tokens_details'])['cached_tokens']),
    output_tokens: asCount(usage['output_tokens']),
    reasoning_tokens: asCount(asRecord(usage['output_tokens_details'])['reasoning_tokens']),
  };
}
