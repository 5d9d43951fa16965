/** A reply as a protocol's fold leaves it, and the one place where it is bounded, cleaned and noted. */
import { ARGUMENTS_MAX_BYTES, CALLS_PER_REPLY_MAX, REPLY_MAX_BYTES } from '../../domain/limits.ts';
import type { FinishReason, ModelReply, ModelToolCall, OpaqueReasoning, Usage } from '../../domain/model.ts';
import { cleanJson, cleanText, cutToJsonBytes, jsonBytes } from './cleanText.ts';

export interface CallDraft {
  id: string;
  name: string;
  args: string;
}

export interface ReplyDraft {
  text: string;
  /** Shown as the text where there is no other. */
  refusal: string;
  calls: CallDraft[];
  reasoning: unknown[];
  usage: Usage | null;
  finish: FinishReason;
  notes: string[];
}

/** Reasoning of one reply that is kept; more is dropped whole, since half of it is worth nothing. */
const REASONING_MAX_BYTES = 512 * 1024;
/** Ids and names. OpenAI's have at most 64 characters. */
const NAME_MAX_CHARS = 256;

/** The reply, and in its notes whatever was odd and was mended. `maker`: whose reasoning it is. */
export function finishReply(
  draft: ReplyDraft,
  maker: Pick<OpaqueReasoning, 'provider' | 'model'>,
): ModelReply {
  const notes = [...draft.notes];
  const text = boundedText(draft, notes);
  const tool_calls = finishCalls(draft.calls, notes);
  const reasoning = keepReasoning(draft.reasoning, maker, notes);
  const finish_reason = finishReason(draft.finish, tool_calls, notes);
  if (text === '' && tool_calls.length === 0) notes.push('The reply is empty.');
  return { text, reasoning, tool_calls, usage: draft.usage, finish_reason, notes: notes.map(cleanText) };
}

function boundedText(draft: ReplyDraft, notes: string[]): string {
  if (draft.refusal !== '') notes.push('The model refused.');
  const whole = cleanText(draft.text === '' ? draft.refusal : draft.text);
  const text = cutToJsonBytes(whole, REPLY_MAX_BYTES);
  if (text !== whole) notes.push(`The text was cut to ${REPLY_MAX_BYTES} bytes.`);
  return text;
}

function finishCalls(drafts: CallDraft[], notes: string[]): ModelToolCall[] {
  if (drafts.length > CALLS_PER_REPLY_MAX) {
    notes.push(`Of ${drafts.length} tool calls the first ${CALLS_PER_REPLY_MAX} were taken.`);
  }
  // Together they share the bound of one, so that a reply stays far below a payload's 2 MiB.
  let left = ARGUMENTS_MAX_BYTES;
  const calls = drafts.slice(0, CALLS_PER_REPLY_MAX).map((draft, index) => {
    const call = finishCall(draft, index, left, notes);
    left = Math.max(0, left - jsonBytes(call.arguments));
    return call;
  });
  const ids = calls.map(({ call_id }) => call_id);
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  for (const id of new Set(repeated)) notes.push(`The call id ${JSON.stringify(id)} occurs more than once.`);
  return calls;
}

function finishCall(draft: CallDraft, index: number, left: number, notes: string[]): ModelToolCall {
  const id = cleanText(draft.id);
  const name = cleanText(draft.name).trim().slice(0, NAME_MAX_CHARS);
  const usable = id !== '' && id.length <= NAME_MAX_CHARS;
  if (!usable)
    notes.push(`Tool call ${index + 1} came ${id === '' ? 'without an id' : 'with an overlong id'}.`);
  if (name === '') notes.push(`Tool call ${index + 1} came without a name.`);
  // Some servers send nothing at all for a call without arguments.
  const whole = draft.args.trim() === '' ? '{}' : cleanText(draft.args);
  const args = cutToJsonBytes(whole, left);
  if (args !== whole) notes.push(`The arguments of tool call ${index + 1} were cut: too long.`);
  return { call_id: usable ? id : `call_${index + 1}`, tool: name.toWellFormed(), arguments: args };
}

function keepReasoning(
  items: unknown[],
  maker: Pick<OpaqueReasoning, 'provider' | 'model'>,
  notes: string[],
): OpaqueReasoning | null {
  if (items.length === 0) return null;
  const clean = items.map(cleanJson);
  const bytes = jsonBytes(clean);
  if (bytes <= REASONING_MAX_BYTES) return { ...maker, items: clean };
  notes.push(`${bytes} bytes of reasoning were dropped: more than ${REASONING_MAX_BYTES}.`);
  return null;
}

/** A cut or filtered reply stays that; otherwise calls are what counts, whatever the server calls it. */
function finishReason(said: FinishReason, calls: ModelToolCall[], notes: string[]): FinishReason {
  if (said === 'length' || said === 'content_filter') return said;
  if (calls.length > 0) {
    if (said !== 'tool_calls') notes.push(`The finish reason was ${said} in spite of tool calls.`);
    return 'tool_calls';
  }
  if (said === 'tool_calls') notes.push('The finish reason was tool_calls without any.');
  return said === 'tool_calls' ? 'stop' : said;
}
