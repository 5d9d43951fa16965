/** Deltas of tool calls to calls: which call a delta belongs to, where servers leave that open. */
import { asRecord, asText, type JsonRecord } from './json.ts';
import type { CallDraft } from './replyDraft.ts';

export interface ChatCall extends CallDraft {
  /** The server's; undefined when it sends none. */
  index: number | undefined;
  /** What else came with the call and must go back with it (Gemini's thought signature). */
  extra: unknown;
}

/** The calls after one more entry of `delta.tool_calls`. */
export function foldCallDelta(calls: ChatCall[], entry: unknown): ChatCall[] {
  const delta = readDelta(asRecord(entry));
  const place = placeOf(calls, delta);
  const call = calls[place];
  if (call === undefined) return [...calls, delta];
  return calls.with(place, {
    index: call.index,
    id: call.id || delta.id,
    name: joinName(call, delta),
    args: call.args + delta.args,
    extra: call.extra ?? delta.extra,
  });
}

function readDelta(entry: JsonRecord): ChatCall {
  const { name, arguments: args } = asRecord(entry['function']);
  return {
    index: typeof entry['index'] === 'number' ? entry['index'] : undefined,
    id: asText(entry['id']),
    name: asText(name),
    args: typeof args === 'object' && args !== null ? JSON.stringify(args) : asText(args),
    extra: entry['extra_content'],
  };
}

/**
 * Where the delta belongs; -1 for a new call. By index; among calls of one index (servers that say 0 for
 * all) the latest, unless it brings a name under another id. Without an index by id; with neither, a name
 * after arguments begins a new call and anything else continues the last.
 */
function placeOf(calls: ChatCall[], delta: ChatCall): number {
  if (delta.index !== undefined) {
    const place = calls.findLastIndex(({ index }) => index === delta.index);
    return isOther(calls[place], delta) ? -1 : place;
  }
  if (delta.id !== '') return calls.findLastIndex(({ id }) => id === delta.id);
  const last = calls.at(-1);
  const begins = delta.name !== '' && last !== undefined && last.args !== '';
  return begins ? -1 : calls.length - 1;
}

function isOther(call: ChatCall | undefined, delta: ChatCall): boolean {
  if (call === undefined || delta.id === '' || call.id === '') return false;
  return delta.id !== call.id && delta.name !== '';
}

/** A name may come in pieces, or whole again with each delta. */
function joinName(call: ChatCall, delta: ChatCall): string {
  const repeats = delta.name === call.name && (delta.id !== '' || call.args !== '');
  return repeats ? call.name : call.name + delta.name;
}
