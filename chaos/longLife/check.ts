/** The log of a long life, held against what the disk and the model saw. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requestFor } from '../../src/activities/callModel.ts';
import { contextDigest } from '../../src/activities/model/wire.ts';
import { isVisible } from '../../src/domain/compaction.ts';
import type { SessionEvent } from '../../src/domain/event.ts';
import { applyEvent } from '../../src/domain/fold.ts';
import type { SessionState } from '../../src/domain/session.ts';
import { appended } from './model.ts';

export interface Counts {
  events: number;
  runs: number;
  summaries: number;
  recoveries: number;
  /** Replies whose context was built again from the events, and had the digest that was recorded. */
  contexts: number;
}

const COUNTED: { [T in SessionEvent['type']]?: keyof Counts } = {
  run_finished: 'runs',
  summary_created: 'summaries',
  tool_recovery: 'recoveries',
  assistant_message: 'contexts',
};

/** Each seq once, one result a call, every reply's context as it was recorded. */
export class LogCheck {
  readonly problems: string[] = [];
  readonly counts: Counts = { events: 0, runs: 0, summaries: 0, recoveries: 0, contexts: 0 };
  #state: SessionState | null = null;
  #visible: SessionEvent[] = [];
  readonly #results = new Set<string>();
  /** Of the model call under way: the digest that its reply must have. */
  #digest: string | undefined;

  add(event: SessionEvent): void {
    this.#count(event);
    const { counts, problems } = this;
    if (event.seq !== counts.events) problems.push(`expected seq ${counts.events}, found ${event.seq}`);
    if (event.type === 'model_called') this.#expectContext(event.through_seq);
    if (event.type === 'assistant_message' && event.context_digest !== this.#digest)
      problems.push(`another context at event ${event.seq}`);
    if (event.type === 'run_finished' && event.status !== 'success')
      problems.push(`a run ended ${event.status}: ${event.error?.message}`);
    if (event.type === 'tool_result') this.#addResult(event.operation_id);
    const state = applyEvent(this.#state, event);
    this.#state = state;
    this.#visible.push(event);
    if (event.type === 'summary_created')
      this.#visible = this.#visible.filter((past) => isVisible(state.summary, past));
  }

  #count({ type }: SessionEvent): void {
    this.counts.events += 1;
    const counted = COUNTED[type];
    if (counted !== undefined) this.counts[counted] += 1;
  }

  #addResult(operation_id: string): void {
    if (this.#results.has(operation_id)) this.problems.push(`two results of ${operation_id}`);
    this.#results.add(operation_id);
  }

  #expectContext(through_seq: number): void {
    if (this.#state?.seq !== through_seq)
      this.problems.push(`a call through ${through_seq} at another event`);
    else
      this.#digest = contextDigest(
        requestFor({ state: this.#state, events: this.#visible, lost: [] }, 'check'),
      );
  }
}

/** Each effect once and in order. */
export async function checkEffects(workspace: string, steps: number): Promise<string[]> {
  const text = await readFile(join(workspace, 'log'), 'utf8').catch(() => '');
  const found = text
    .split('\n')
    .filter((line) => line !== '')
    .map(Number);
  const expected = appended(steps);
  const same = found.length === expected.length && found.every((number, index) => number === expected[index]);
  return same
    ? []
    : [`expected ${expected.length} lines in the log, each once and in order, found ${found.length}`];
}
