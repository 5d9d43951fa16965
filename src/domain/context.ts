/**
 * `buildContext`: what the next model call is sent, made from events. Always a valid conversation: after an
 * assistant message with calls comes exactly one result for each, whatever was cut off or interrupted, and
 * there is no result without its call.
 */
import type { EventOf, EventType, SessionEvent } from './event.ts';
import { NO_RESULT_RECORDED, NO_RESULT_YET, recoveryBlock, unknownResult } from './evidence.ts';
import type { RecoveredOperation } from './evidence.ts';
import type { ContextMessage, ModelToolCall } from './model.ts';
import { systemText } from './prompt.ts';
import type { SessionState } from './session.ts';

/**
 * The conversation as it was after `state.seq`. `events` are all that the model shall still see, in order;
 * later ones than `state.seq` must not be among them.
 */
export function buildContext(state: SessionState, events: readonly SessionEvent[]): ContextMessage[] {
  const conversation = new Conversation();
  for (const event of events) conversation.add(event);
  const messages: ContextMessage[] = [{ role: 'system', text: systemText(state) }, ...conversation.finish()];
  const recovery = recoveryBlock(conversation.recovered());
  return recovery === undefined ? messages : [...messages, { role: 'user', text: recovery }];
}

const INTERRUPTED_NOTE =
  '<interrupted>The user interrupted the run here. Calls without a result above were stopped or not run, as each one says.</interrupted>';

/** Folds events into messages, with the results of one reply gathered before anything that follows it. */
class Conversation {
  readonly #messages: ContextMessage[] = [];
  /** Accepted, not yet sent to any model call; in order of arrival. */
  #waiting: EventOf<'user_message'>[] = [];
  #calls: ModelToolCall[] = [];
  #results = new Map<string, string>();
  #recoveries = new Map<string, RecoveredOperation>();
  #targets = new Map<string, EventOf<'tool_call'>>();

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

  /** Unknown since the last reply: the next call is told of these. */
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

  reply(event: EventOf<'assistant_message'>): void {
    this.#closeReply();
    this.#recoveries.clear();
    if (event.text === '' && event.tool_calls.length === 0 && event.reasoning === null) return;
    this.#messages.push({
      role: 'assistant',
      text: event.text,
      reasoning: event.reasoning,
      tool_calls: event.tool_calls,
    });
    this.#calls = event.tool_calls;
  }

  call(event: EventOf<'tool_call'>): void {
    this.#targets.set(event.call_id, event);
  }

  result(call_id: string, text: string): void {
    this.#results.set(call_id, text);
  }

  recover(event: EventOf<'tool_recovery'>): void {
    if (event.status === 'completed' || event.status === 'not_run' || event.status === 'running') {
      this.#recoveries.delete(event.operation_id);
      return;
    }
    const call = this.#targets.get(event.call_id);
    const operation = { recovery: event, tool: call?.tool ?? 'unknown tool', target: call?.target ?? '' };
    this.#recoveries.set(event.operation_id, operation);
    this.#results.set(event.call_id, unknownResult(event.evidence));
  }

  /** Gives every call of the open reply its one result. */
  #closeReply(otherwise = NO_RESULT_RECORDED): void {
    for (const { call_id } of this.#calls) {
      this.#messages.push({ role: 'tool', call_id, text: this.#results.get(call_id) ?? otherwise });
    }
    this.#calls = [];
    this.#results.clear();
    this.#targets.clear();
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
  tool_result: (conversation, event) => conversation.result(event.call_id, event.output),
  tool_recovery: (conversation, event) => conversation.recover(event),
  run_finished: (conversation, event) => {
    if (event.status === 'interrupted') conversation.note(INTERRUPTED_NOTE);
  },
};
