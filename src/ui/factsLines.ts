/** What is known of a session, for a reader. */
import type { KnownFacts } from '../client/facts.ts';
import type { HeldUp } from '../client/heldUp.ts';
import { taskLines } from './goalLines.ts';
import type { Styles } from './style.ts';
import { clip, count, oneLine, plural } from './text.ts';
import { ago, duration } from './time.ts';

const RUNS_SHOWN = 5;

/** What `show` knows: the session's own facts, and what it can't know itself. */
export type ShownFacts = KnownFacts & { held_up: HeldUp[] };

/** Lines, none longer than `columns`. */
export function factsLines(facts: ShownFacts, columns: number, styles: Styles, now = Date.now()): string[] {
  const cut = (line: string): string => clip(line, columns);
  const { settings, usage } = facts;
  return [
    styles.bold(cut(oneLine(facts.title))),
    cut(`session    ${facts.session_id}`),
    cut(`status     ${facts.status}, ${facts.run_state.replace('_', ' ')}`),
    cut(`workspace  ${oneLine(facts.workspace.path)}`),
    cut(`host       ${facts.workspace.host}`),
    cut(`user       ${oneLine(facts.user_id)}`),
    cut(`created    ${ago(facts.created_at, now)}, updated ${ago(facts.updated_at, now)}`),
    ...(facts.partial
      ? [styles.warn(cut('No worker answers: this is what lists and archive know.'))]
      : [
          cut(`model      ${settings.model} (${settings.api})`),
          cut(`approval   ${settings.approval}; on interrupt: ${settings.on_interrupt}`),
          cut(`tokens     ${count(usage.input_tokens)} in, ${count(usage.output_tokens)} out`),
          cut(`context    ${contextWords(facts)}`),
        ]),
    ...(facts.queued > 0 ? [cut(`queued     ${plural(facts.queued, 'message')}`)] : []),
    ...heldUpLines(facts.held_up).map((line) => styles.warn(cut(line))),
    ...taskLines(facts, now).map((line) => cut(line)),
    ...runLines(facts, now).map((line) => cut(line)),
    ...callLines(facts).map((line) => styles.warn(cut(line))),
  ];
}

function contextWords({ context }: KnownFacts): string {
  const { tokens, window, summary_through_seq, compacting } = context;
  const used = tokens === 0 ? '' : `${count(tokens)} of `;
  return [
    `${used}${count(window)} tokens`,
    ...(summary_through_seq === null ? [] : [`events up to ${summary_through_seq} summarised`]),
    ...(compacting ? ['a summary is being made'] : []),
  ].join(', ');
}

function heldUpLines(held_up: HeldUp[]): string[] {
  return held_up.flatMap(({ activity, attempt, failure }) => [
    `held up    ${activity} failed and is tried again, try ${attempt} is next:`,
    `  ${oneLine(failure)}`,
  ]);
}

function runLines({ runs, run_count }: KnownFacts, now: number): string[] {
  if (run_count === 0) return [];
  const shown = runs.slice(-RUNS_SHOWN).toReversed();
  const head =
    run_count > shown.length
      ? `runs       ${run_count}, the last ${shown.length}:`
      : `runs       ${run_count}`;
  return [
    head,
    ...shown.map((run) => {
      const end = run.finished_at === null ? now : Date.parse(run.finished_at);
      const took = duration(end - Date.parse(run.started_at));
      const error = run.error === null ? '' : `: ${oneLine(run.error.message)}`;
      return `  ${run.status}, ${ago(run.started_at, now)}, ${took}${error}`;
    }),
  ];
}

function callLines({ session_id, pending_approvals, uncertain }: KnownFacts): string[] {
  return [
    ...pending_approvals.flatMap((call) => [
      `waits for approval: ${call.tool} ${oneLine(call.target)}`,
      `  holdfast approve ${session_id} ${call.call_id}`,
    ]),
    ...uncertain.flatMap((call) => [
      `outcome ${call.status}: ${call.tool} ${oneLine(call.target)}`,
      `  ${oneLine(call.evidence)}`,
    ]),
  ];
}
