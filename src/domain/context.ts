/**
 * `buildContext`: what the next model call is sent, made from events. Always a valid conversation: after an
 * assistant message with calls comes exactly one result for each, whatever was cut off or interrupted, and
 * there is no result without its call.
 */
import type { EventOf, EventType, SessionEvent } from './event.ts';
import {
  NO_RESULT_RECORDED,
  NO_RESULT_YET,
  notRunResult,
  recoveryBlock,
  settledResult,
  unknownResult,
} from './evidence.ts';
import type { RecoveredOperation } from './evidence.ts';
import type { ContextMessage, ModelToolCall } from './model.ts';
import { systemText } from './prompt.ts';
import type { SessionState } from './session.ts';

/**
 * The conversation as it was after `state.seq`. `events` are all that the model shall still see, in order;
 * later ones than `state.seq` must not be among them.
 */
export function buildContext(state: SessionState, events: readonly SessionEvent[]): ContextMessage[] {
  const conversation = new Conversation(resultTexts(events));
  for (const event of events) conversation.add(event);
  const messages: ContextMessage[] = [{ role: 'system', text: systemText(state) }, ...conversation.finish()];
  const recovery = recoveryBlock(conversation.recovered());
  return recovery === undefined ? messages : [...messages, { role: 'user', text: recovery }];
}

const INTERRUPTED_NOTE =
  '<interrupted>The user interrupted the run here. Calls without a result above were stopped or not run, as each one says.</interrupted>';

/** What is told of each call: its result, or what was found out about it. The last word counts. */
function resultTexts(events: readonly SessionEvent[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'tool_result') texts.set(event.call_id, event.output);
    if (event.type === 'tool_recovery') {
      const text = recoveryText(event);
      if (text !== undefined) texts.set(event.call_id, text);
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
  #calls: ModelToolCall[] = [];
  readonly #recoveries = new Map<string, RecoveredOperation>();
  readonly #targets = new Map<string, EventOf<'tool_call'>>();

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

  reply({ text, reasoning, tool_calls }: EventOf<'assistant_message'>): void {
    this.#closeReply();
    this.#recoveries.clear();
    if (text === '' && tool_calls.length === 0 && reasoning === null) return;
    this.#messages.push({ role: 'assistant', text, reasoning, tool_calls });
    this.#calls = tool_calls;
  }

  call(event: EventOf<'tool_call'>): void {
    this.#targets.set(event.call_id, event);
  }

  recover(event: EventOf<'tool_recovery'>): void {
    const known = event.by === 'tool' && event.status !== 'unknown' && event.status !== 'uncertain';
    const call = this.#targets.get(event.call_id);
    const operation = { recovery: event, tool: call?.tool ?? 'unknown tool', target: call?.target ?? '' };
    if (known) this.#recoveries.delete(event.operation_id);
    else this.#recoveries.set(event.operation_id, operation);
  }

  /** Gives every call of the open reply its one result. */
  #closeReply(otherwise = NO_RESULT_RECORDED): void {
    for (const { call_id } of this.#calls) {
      this.#messages.push({ role: 'tool', call_id, text: this.#results.get(call_id) ?? otherwise });
    }
    this.#calls = [];
  }
}

type Handlers = { [T in EventType]?: (conversation: Conversation, event: EventOf<T>) => void };

const HANDLERS: Handlers = {
  user_message: (conversation, event) => conversation.wait(event),
  run_started: (conversation, event) =>
    conversation.enter(({ message_id }) => event.message_ids.includes(message_id)),
  model_called: (conversation, event) =>
    conversation.enter(({ delivery, seq }) => delivery === 'steer' && seq <= event.through_seq),
  assistant_message: (conversation, event) => conversation.reply(event),
  tool_call: (conversation, event) => conversation.call(event),
  tool_recovery: (conversation, event) => conversation.recover(event),
  run_finished: (conversation, event) => {
    if (event.status === 'interrupted') conversation.note(INTERRUPTED_NOTE);
  },
};
