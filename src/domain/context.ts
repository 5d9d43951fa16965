/**
 * `buildContext`: what the next model call is sent, made from events. Always a valid conversation: after an
 * assistant message with calls comes exactly one result for each, whatever was cut off or interrupted, and
 * there is no result without its call.
 */
import { isVisible } from './compaction.ts';
import type { EventOf, EventType, SessionEvent } from './event.ts';
import {
  NEVER_BEGUN,
  NO_RESULT_RECORDED,
  NO_RESULT_YET,
  notRunResult,
  recoveryBlock,
  settledResult,
  unknownResult,
} from './evidence.ts';
import type { RecoveredOperation } from './evidence.ts';
import type { ContextMessage, ModelToolCall } from './model.ts';
import { changedNote } from './projectChanges.ts';
import { taskBlocks } from './goalPrompt.ts';
import { systemText } from './prompt.ts';
import type { SessionState } from './session.ts';
import { summaryText } from './summary.ts';

/**
 * The conversation as it was after `state.seq`. `events` are all that the model shall still see, in order; what
 * the session's summary covers is left out, and later ones than `state.seq` must not be among them. `lost` are those
 * that should be among them and can't be read any more.
 */
export function buildContext(
  state: SessionState,
  events: readonly SessionEvent[],
  lost: readonly LostEvents[] = [],
): ContextMessage[] {
  const visible = events.filter((event) => isVisible(state.summary, event));
  const conversation = new Conversation(resultTexts(visible));
  for (const event of visible) conversation.add(event);
  const messages: ContextMessage[] = [...opening(state, visible, lost), ...conversation.finish()];
  const recovery = recoveryBlock(conversation.recovered());
  return recovery === undefined ? messages : [...messages, { role: 'user', text: recovery }];
}

/** Events of the conversation whose record is damaged; `why` names the file. */
export interface LostEvents {
  from_seq: number;
  through_seq: number;
  why: string;
}

/** What stands before the conversation. */
function opening(
  state: SessionState,
  visible: readonly SessionEvent[],
  lost: readonly LostEvents[],
): ContextMessage[] {
  const system = [systemText(state), ...taskBlocks(state, visible)].join('\n\n');
  const texts = [summaryText(state), lostText(lost)].filter((text) => text !== undefined);
  return [{ role: 'system', text: system }, ...texts.map((text) => ({ role: 'user' as const, text }))];
}

function lostText(lost: readonly LostEvents[]): string | undefined {
  if (lost.length === 0) return undefined;
  const ranges = lost.map(({ from_seq, through_seq }) => `${from_seq} to ${through_seq}`).join(', ');
  return `<lost>A part of the conversation can't be read any more, since its record on the disk is damaged: events ${ranges}. What was said and done there is unknown to you. Look at the real state before you rely on anything that may have happened there.</lost>`;
}

const INTERRUPTED_NOTE =
  '<interrupted>The user interrupted the run here. Calls without a result above were stopped or not run, as each one says.</interrupted>';

/** A session that waits after a crash ends its run as interrupted, too, and nobody asked for that. */
const LOST_NOTE =
  '<interrupted>The run ended here because its worker was lost. Calls without a result above say what is known of them.</interrupted>';

/**
 * What is told of each operation: its result, or what was found out about it. The last word counts. Call ids
 * are the model's, which may use one again after a long time; operation ids are never used twice.
 */
function resultTexts(events: readonly SessionEvent[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'tool_result') texts.set(event.operation_id, event.output);
    if (event.type === 'tool_recovery') {
      const text = recoveryText(event);
      if (text !== undefined) texts.set(event.operation_id, text);
    }
  }
  return texts;
}

function recoveryText(recovery: EventOf<'tool_recovery'>): string | undefined {
  const { by, status, evidence } = recovery;
  if (by === 'user') return settledResult(recovery);
  if (status === 'not_run') return notRunResult(evidence);
  return status === 'unknown' || status === 'uncertain' ? unknownResult(evidence) : undefined;
}

/** Folds events into messages, with the results of one reply gathered before anything that follows it. */
class Conversation {
  readonly #results: ReadonlyMap<string, string>;
  readonly #messages: ContextMessage[] = [];
  /** Accepted, not yet sent to any model call; in order of arrival. */
  #waiting: EventOf<'user_message'>[] = [];
  /** Of the last reply, until their results are given. */
  #calls: ModelToolCall[] = [];
  /** Their operations by call id. */
  #operations = new Map<string, string>();
  /** By operation, as `#accepted`. */
  readonly #recoveries = new Map<string, RecoveredOperation>();
  readonly #accepted = new Map<string, EventOf<'tool_call'>>();
  /** What the model call under way was sent. */
  #sentThrough = 0;
  #interrupted = false;

  constructor(results: ReadonlyMap<string, string>) {
    this.#results = results;
  }

  add(event: SessionEvent): void {
    const handle = HANDLERS[event.type] as
      | ((conversation: Conversation, event: SessionEvent) => void)
      | undefined;
    handle?.(this, event);
  }

  finish(): ContextMessage[] {
    this.#closeReply(NO_RESULT_YET);
    this.enter((message) => message.delivery === 'steer');
    return this.#messages;
  }

  /** What nobody knew since the last reply, or a person has said since: the next call is told of these. */
  recovered(): RecoveredOperation[] {
    return [...this.#recoveries.values()];
  }

  wait(message: EventOf<'user_message'>): void {
    this.#waiting.push(message);
  }

  /** Messages that enter the conversation here. */
  enter(which: (message: EventOf<'user_message'>) => boolean): void {
    this.#closeReply();
    for (const message of this.#waiting.filter((candidate) => which(candidate))) this.note(message.text);
    this.#waiting = this.#waiting.filter((message) => !which(message));
  }

  note(text: string): void {
    this.#closeReply();
    this.#messages.push({ role: 'user', text });
  }

  send(through_seq: number): void {
    this.enter((message) => message.delivery === 'steer' && message.seq <= through_seq);
    this.#sentThrough = through_seq;
  }

  reply({ text, reasoning, tool_calls }: EventOf<'assistant_message'>): void {
    this.#closeReply();
    for (const [operation_id, { recovery }] of this.#recoveries)
      if (recovery.seq <= this.#sentThrough) this.#recoveries.delete(operation_id);
    if (text === '' && tool_calls.length === 0 && reasoning === null) return;
    const calls = distinct(tool_calls);
    this.#messages.push({ role: 'assistant', text, reasoning, tool_calls: calls });
    this.#calls = calls;
  }

  call(event: EventOf<'tool_call'>): void {
    this.#accepted.set(event.operation_id, event);
    this.#operations.set(event.call_id, event.operation_id);
  }

  begin({ message_ids, prompt }: EventOf<'run_started'>): void {
    this.#interrupted = false;
    this.enter(({ message_id }) => message_ids.includes(message_id));
    if (prompt !== undefined) this.note(prompt);
  }

  interrupt(): void {
    this.#interrupted = true;
  }

  /** A run ends when nothing of it is under way: what it had begun has a result or a recovery. */
  end(status: EventOf<'run_finished'>['status']): void {
    this.#closeReply(NEVER_BEGUN);
    if (status === 'interrupted') this.note(this.#interrupted ? INTERRUPTED_NOTE : LOST_NOTE);
  }

  recover(event: EventOf<'tool_recovery'>): void {
    const known = event.by === 'tool' && event.status !== 'unknown' && event.status !== 'uncertain';
    const call = this.#accepted.get(event.operation_id);
    const operation = { recovery: event, tool: call?.tool ?? 'unknown tool', target: call?.target ?? '' };
    if (known) this.#recoveries.delete(event.operation_id);
    else this.#recoveries.set(event.operation_id, operation);
  }

  /** With a result nothing is in doubt. */
  settle({ operation_id }: EventOf<'tool_result'>): void {
    this.#recoveries.delete(operation_id);
  }

  /** Gives every call of the open reply its one result. */
  #closeReply(otherwise = NO_RESULT_RECORDED): void {
    for (const { call_id } of this.#calls) {
      const operation_id = this.#operations.get(call_id);
      const text = operation_id === undefined ? undefined : this.#results.get(operation_id);
      this.#messages.push({ role: 'tool', call_id, text: text ?? otherwise });
    }
    this.#calls = [];
    this.#operations = new Map();
  }
}

/** A result names its call by id alone, so a second call of one id in a reply could have none. */
function distinct(calls: ModelToolCall[]): ModelToolCall[] {
  const ids = new Set<string>();
  return calls.filter(({ call_id }) => !ids.has(call_id) && ids.add(call_id));
}

type Handlers = { [T in EventType]?: (conversation: Conversation, event: EventOf<T>) => void };

const HANDLERS: Handlers = {
  user_message: (conversation, event) => conversation.wait(event),
  run_started: (conversation, event) => conversation.begin(event),
  project_loaded: (conversation, { changes = [] }) => {
    if (changes.length > 0) conversation.note(changedNote(changes));
  },
  model_called: (conversation, event) => conversation.send(event.through_seq),
  assistant_message: (conversation, event) => conversation.reply(event),
  tool_call: (conversation, event) => conversation.call(event),
  tool_recovery: (conversation, event) => conversation.recover(event),
  tool_result: (conversation, event) => conversation.settle(event),
  interrupt_requested: (conversation) => conversation.interrupt(),
  run_finished: (conversation, event) => conversation.end(event.status),
};
