import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutsOf, isVisible, keptBeside } from '../../src/domain/compaction.ts';
import { buildContext } from '../../src/domain/context.ts';
import { NEVER_BEGUN } from '../../src/domain/evidence.ts';
import type { EventOf, SessionEvent } from '../../src/domain/event.ts';
import type { ContextMessage } from '../../src/domain/model.ts';
import { anyEvents } from './support/anyEvents.ts';
import type { SessionState } from '../../src/domain/session.ts';
import { stateOf } from './support/events.ts';
import { freeze } from './support/freeze.ts';
import { Simulation } from './support/simulation.ts';
import { problemsOf } from './support/validity.ts';

/** A failure prints its seed and path; `{seed, path}` here plays it again. */
const SEQUENCES = { numRuns: 10_000 };
const SESSIONS = { numRuns: 2_000 };

const tape = fc.array(fc.nat(255), { maxLength: 250, size: 'max' });
const settings = fc.record({
  approval: fc.constantFrom('auto' as const, 'ask' as const, 'read-only' as const),
  on_interrupt: fc.constantFrom('continue' as const, 'wait' as const),
});

test('whatever the events are, the conversation is valid in both protocols and always the same', () => {
  fc.assert(
    fc.property(anyEvents, (events) => {
      const state = freeze(stateOf(events));
      const messages = buildContext(state, freeze(events));
      expect(problemsOf(messages)).toEqual([]);
      expect(buildContext(state, structuredClone(events))).toEqual(messages);
    }),
    SEQUENCES,
  );
});

test('wherever a log is cut, the conversation is valid', () => {
  fc.assert(
    fc.property(anyEvents, fc.nat(40), fc.nat(40), (events, from, to) => {
      const cut = events.slice(from, to);
      expect(problemsOf(buildContext(stateOf(events), cut))).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

test('each message that a session consumed is in the next context once, in the order of consumption', () => {
  fc.assert(
    fc.property(tape, settings, (numbers, chosen) => {
      const consumed: string[] = [];
      const session = new Simulation(numbers, chosen, {
        onEvent: ({ state }, event) => consumed.push(...taken(state.queue, event)),
        onDecision: ({ state, events }, decision) => {
          if (decision.do !== 'call_model') return;
          const steering = state.queue.filter(({ delivery }) => delivery === 'steer');
          const expected = [...consumed, ...steering.map(({ message_id }) => message_id)];
          const messages = buildContext(state, events);
          expect(problemsOf(messages)).toEqual([]);
          expect(saidByUser(messages)).toEqual(expected.map((id) => `message ${id}`));
        },
      });
      session.run();
    }),
    SESSIONS,
  );
});

test('what a crash left unknown is told in the recovery block of the next call alone, until that call is answered', () => {
  fc.assert(
    fc.property(tape, settings, (numbers, chosen) => {
      const ledger = new Ledger();
      const session = new Simulation(numbers, chosen, {
        onEvent: (_, event) => ledger.add(event),
        onDecision: ({ state, events }, decision) => {
          if (decision.do !== 'call_model') return;
          const messages = buildContext(state, events);
          expect(namedInBlock(messages, '<recovery>').toSorted()).toEqual(ledger.untold().toSorted());
          const { summary, uncertain } = state;
          const covered = uncertain.filter(({ seq }) => summary !== null && seq <= summary.seq);
          expect(namedInBlock(messages, '<summary>')).toEqual(covered.map(({ call_id }) => call_id));
        },
      });
      session.run();
    }),
    SESSIONS,
  );
});

test('each call is told with what its result or its recovery said last, or that its run ended before it began', () => {
  fc.assert(
    fc.property(tape, settings, (numbers, chosen) => {
      const said = new Map<string, string>();
      const session = new Simulation(numbers, chosen, {
        onEvent: (_, event) => {
          if (event.type === 'tool_result') said.set(event.call_id, event.output);
          if (event.type === 'tool_recovery') said.set(event.call_id, event.evidence);
        },
        onDecision: ({ state, events }, decision) => {
          if (decision.do !== 'call_model') return;
          for (const message of buildContext(state, events))
            if (message.role === 'tool')
              expect(message.text).toContain(said.get(message.call_id) ?? NEVER_BEGUN);
        },
      });
      session.run();
    }),
    SESSIONS,
  );
});

test('whatever a summary covers, what follows it is word for word the end of the whole conversation', () => {
  let cuts = 0;
  fc.assert(
    fc.property(tape, settings, (numbers, chosen) => {
      const session = new Simulation(numbers, chosen, {
        onDecision: ({ state, events }, decision) => {
          if (decision.do !== 'call_model' && decision.do !== 'compact') return;
          const visible = events.filter((event) => isVisible(state.summary, event));
          const whole = conversation(state, events);
          for (const { through_seq } of cutsOf(state, visible, () => 1)) {
            cuts += 1;
            const rest = conversation(summarised(state, visible, through_seq), events);
            expect(rest).toEqual(whole.slice(whole.length - rest.length));
          }
        },
      });
      session.run();
    }),
    { numRuns: 500 },
  );
  expect(cuts).toBeGreaterThan(1_000);
});

/** Without what stands around it: the system message, the summary, the recovery block. */
function conversation(state: SessionState, events: readonly SessionEvent[]): ContextMessage[] {
  return buildContext(state, events).filter(
    ({ role, text }) => role !== 'system' && !text.startsWith('<summary>') && !text.startsWith('<recovery>'),
  );
}

function summarised(state: SessionState, visible: SessionEvent[], through_seq: number): SessionState {
  const kept = keptBeside(state, visible, through_seq);
  const sizes = { tokens_before: 2, tokens_after: 1, usage: null };
  return { ...state, summary: { seq: state.seq + 1, through_seq, text: 'summary', ...kept, ...sizes } };
}

/** Which messages an event takes from the queue. */
function taken(
  queue: readonly { message_id: string; delivery: string; seq: number }[],
  event: SessionEvent,
): string[] {
  return queue
    .filter(({ message_id, delivery, seq }) => {
      if (event.type === 'run_started') return event.message_ids.includes(message_id);
      return event.type === 'model_called' && delivery === 'steer' && seq <= event.through_seq;
    })
    .map(({ message_id }) => message_id);
}

/** In the conversation, or word for word beside the summary. */
function saidByUser(messages: ContextMessage[]): string[] {
  return messages
    .filter(({ role }) => role === 'user')
    .flatMap(({ text }) => {
      if (!text.startsWith('<summary>')) return text.startsWith('message ') ? [text] : [];
      return [...text.matchAll(/<message>(.*)<\/message>/g)].map(([, said]) => said ?? '');
    });
}

function namedInBlock(messages: ContextMessage[], tag: '<recovery>' | '<summary>'): string[] {
  const blocks = messages.filter(({ role, text }) => role === 'user' && text.startsWith(tag));
  expect(blocks.length).toBeLessThanOrEqual(1);
  const place = tag === '<recovery>' ? messages.at(-1) : messages[1];
  expect(blocks.every((block) => block === place)).toBe(true);
  return [...(blocks[0]?.text ?? '').matchAll(/^- call (\S+) /gm)].map(([, call_id]) => call_id ?? '');
}

/** What the model has not been told yet, kept apart from how `buildContext` finds it out. */
class Ledger {
  #told: EventOf<'tool_recovery'>[] = [];
  #sending: EventOf<'tool_recovery'>[] = [];

  add(event: SessionEvent): void {
    if (event.type === 'tool_recovery') {
      this.#told = this.#told.filter(({ operation_id }) => operation_id !== event.operation_id);
      if (event.by === 'user' || event.status === 'unknown') this.#told.push(event);
    }
    // The summary has been told of them, and lists what is still open.
    if (event.type === 'summary_created')
      this.#told = this.#told.filter(({ seq }) => seq > event.through_seq);
    if (event.type === 'model_called') this.#sending = [...this.#told];
    if (event.type === 'assistant_message')
      this.#told = this.#told.filter((recovery) => !this.#sending.includes(recovery));
  }

  untold(): string[] {
    return this.#told.map(({ call_id }) => call_id);
  }
}
