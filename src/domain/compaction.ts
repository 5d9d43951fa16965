/**
 * Compaction: which events a summary covers, and how it changes the session. A cut lies before a step or a run,
 * where every call has its result, so that what is left is a valid conversation.
 */
import type { EventOf, SessionEvent, Summary } from './event.ts';
import { KEEP_RECENT_MAX_TOKENS, KEEP_RECENT_SHARE, SUMMARY_MESSAGES_MAX_BYTES } from './limits.ts';
import { addUsage, NO_USAGE } from './model.ts';
import type { SessionState } from './session.ts';
import { inRun } from './stateChanges.ts';

/** Whether an event is still in the context as it is, and not in the summary. */
export function isVisible(summary: SessionState['summary'], event: SessionEvent): boolean {
  return summary === null || event.seq > summary.through_seq || summary.carried.includes(event.seq);
}

/** A place where the context can be cut: the event `through_seq` is the last that a summary there covers. */
export interface Cut {
  through_seq: number;
  /** Of the covered events that the last summary does not cover. */
  tokens: number;
}

/**
 * All places where the visible `events` may be cut, in order: before each run and each step, and at the end. None
 * lies behind a call whose own tool has still to say what became of it.
 */
export function cutsOf(
  state: SessionState,
  events: readonly SessionEvent[],
  tokensOf: (event: SessionEvent) => number,
): Cut[] {
  const first = state.summary?.through_seq ?? 0;
  const last = lastCuttable(state, events);
  const cuts: Cut[] = [];
  let tokens = 0;
  const cutAfter = (through_seq: number): void => {
    const isNew = tokens > (cuts.at(-1)?.tokens ?? 0);
    if (isNew && through_seq > first && through_seq <= last) cuts.push({ through_seq, tokens });
  };
  for (const event of events) {
    if (event.type === 'model_called' || event.type === 'run_started') cutAfter(event.seq - 1);
    tokens += tokensOf(event);
  }
  cutAfter(state.seq);
  return cuts;
}

/** A call that has to be looked up stays whole: its arguments and its place for a result are needed. */
function lastCuttable(state: SessionState, events: readonly SessionEvent[]): number {
  const open = new Set([
    ...state.uncertain.filter(({ status }) => status !== 'unknown').map(({ operation_id }) => operation_id),
    ...(state.run?.calls ?? [])
      .filter(({ status }) => status !== 'settled')
      .map(({ operation_id }) => operation_id),
  ]);
  const call = events.find((event) => event.type === 'tool_call' && open.has(event.operation_id));
  if (call === undefined) return state.seq;
  // The step began with the model call that asked for it.
  const step = events.findLast(({ type, seq }) => type === 'model_called' && seq < call.seq);
  return (step ?? call).seq - 1;
}

/**
 * The cut to make: the earliest that leaves no more than the last steps, so that as much as is allowed is kept
 * word for word; undefined when there is nothing to summarise.
 */
export function chooseCut(cuts: readonly Cut[], window: number): Cut | undefined {
  const all = cuts.at(-1)?.tokens ?? 0;
  // Of a short conversation a part is kept, too: a summary of nothing helps nobody.
  const keep = Math.min(KEEP_RECENT_MAX_TOKENS, window * KEEP_RECENT_SHARE, all / 4);
  return cuts.find(({ tokens }) => all - tokens <= keep);
}

/** What a summary of the visible `events` up to a cut has to keep as it is. */
export function keptBeside(
  state: SessionState,
  events: readonly SessionEvent[],
  through_seq: number,
): Pick<Summary, 'carried' | 'user_messages'> {
  const waiting = new Map<string, EventOf<'user_message'>>();
  const entered: string[] = [];
  const enter = (which: (message: EventOf<'user_message'>) => boolean): void => {
    for (const message of [...waiting.values()].filter((candidate) => which(candidate))) {
      entered.push(message.text);
      waiting.delete(message.message_id);
    }
  };
  for (const event of events.filter(({ seq }) => seq <= through_seq)) {
    if (event.type === 'user_message') waiting.set(event.message_id, event);
    if (event.type === 'run_started') enter(({ message_id }) => event.message_ids.includes(message_id));
    if (event.type === 'model_called')
      enter(({ delivery, seq }) => delivery === 'steer' && seq <= event.through_seq);
  }
  const unknown = new Set(state.uncertain.map(({ operation_id }) => operation_id));
  const calls = events.filter(
    (event) => event.type === 'tool_call' && event.seq <= through_seq && unknown.has(event.operation_id),
  );
  return {
    carried: [...waiting.values(), ...calls].map(({ seq }) => seq).toSorted((a, b) => a - b),
    user_messages: newest([...(state.summary?.user_messages ?? []), ...entered]),
  };
}

/** As many as there is room for; of the newest one at least its beginning. */
function newest(texts: readonly string[]): string[] {
  const kept: string[] = [];
  // A UTF-16 unit takes at most three bytes.
  let room = Math.floor(SUMMARY_MESSAGES_MAX_BYTES / 3);
  for (const text of texts.toReversed()) {
    if (text.length > room && kept.length > 0) break;
    kept.unshift(text.length <= room ? text : `${text.slice(0, room).toWellFormed()}\n[cut]`);
    room -= Math.min(text.length, room);
  }
  return kept;
}

type Folds = {
  [T in 'compaction_requested' | 'context_full' | 'summary_created' | 'compaction_failed']: (
    state: SessionState,
    event: EventOf<T>,
  ) => SessionState;
};

/** A session without a summary, and what a state of before there were any is completed with. */
export const NEVER_COMPACTED = {
  summary: null,
  compactions: 0,
  compaction_requested: false,
  context_tokens: 0,
};

/** How the events of a compaction change the session (fold.ts). */
export const COMPACTION_FOLDS: Folds = {
  compaction_requested: (state) => ({ ...state, compaction_requested: true }),
  context_full: (state, { tokens }) => ({
    ...inRun(state, (run) => ({ ...run, model_call: null, context: 'full' })),
    context_tokens: tokens ?? state.context_tokens,
  }),
  summary_created: (state, { type: _, at: _at, run_id: _run, operation_id: _operation, ...summary }) => {
    const paid = summary.usage ?? NO_USAGE;
    const next = {
      ...state,
      summary,
      compactions: state.compactions + 1,
      compaction_requested: false,
      context_tokens: summary.tokens_after,
    };
    if (state.run === null) return { ...next, usage: addUsage(state.usage, paid) };
    const { context: _full, ...run } = state.run;
    const compactions = (run.compactions ?? 0) + 1;
    return { ...next, run: { ...run, compactions, usage: addUsage(run.usage, paid) } };
  },
  compaction_failed: (state, { error }) => {
    const next = { ...state, compactions: state.compactions + 1, compaction_requested: false };
    if (state.run?.context !== 'full') return next;
    return error.code === NOTHING_TO_SUMMARISE
      ? inRun(next, (run) => ({ ...run, context: 'irreducible' }))
      : inRun(next, (run) => ({ ...run, compaction_error: error }));
  },
};

/** The code of a compaction that found nothing that a summary could stand for. */
export const NOTHING_TO_SUMMARISE = 'context.irreducible';
