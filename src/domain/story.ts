/** The Markdown that the Web UI shows as a session's current details. */
import type { EventOf, EventType, SessionEvent } from './event.ts';
import { runStateName } from './facts.ts';
import type { Goal } from './goal.ts';
import { planLine } from './goalPrompt.ts';
import type { SessionState } from './session.ts';

const STEPS_SHOWN = 8;
/** Temporal keeps 20,000 bytes of these details. */
const PLAN_STEPS_SHOWN = 40;

/** A page for a person who looks in: what it is, what it does, what is open. */
export function tellStory(state: SessionState, events: readonly SessionEvent[]): string {
  return [
    `**${escape(state.title)}** · ${state.status} · ${runStateName(state)}`,
    `Workspace ${code(state.workspace.path)} on ${code(state.workspace.host)} · model ${code(state.settings.model)} · run ${state.run_count} · ${state.queue.length} queued`,
    ...section('Waiting for approval', awaiting(state)),
    ...section(
      'Uncertain operations',
      state.uncertain.map(
        (operation) =>
          `${code(operation.call_id)} ${escape(`${operation.tool}: ${operation.target}`)} is **${operation.status}**. ${escape(operation.evidence)}`,
      ),
    ),
    ...section('Goal', goalLines(state.goal)),
    ...section('Plan', planLines(state)),
    ...section('Last steps', lastSteps(events)),
  ].join('\n\n');
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`### ${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}`];
}

function awaiting(state: SessionState): string[] {
  return (state.run?.calls ?? [])
    .filter((call) => call.status === 'awaiting_approval')
    .map((call) => `${code(call.call_id)} ${escape(`${call.tool}: ${call.target}`)}`);
}

function goalLines(goal: Goal | null): string[] {
  if (goal === null) return [];
  const of = goal.budget === null ? '' : ` of ${goal.budget}`;
  return [
    `**${escape(goal.status)}** · ${goal.tokens_used}${of} tokens${goal.next_run_at === null ? '' : ` · next run at ${goal.next_run_at}`}`,
    brief(goal.objective),
    ...(goal.note === '' ? [] : [brief(goal.note)]),
  ];
}

function planLines({ plan }: SessionState): string[] {
  const shown = plan.slice(0, PLAN_STEPS_SHOWN).map((step) => brief(planLine(step)));
  return plan.length > shown.length ? [...shown, `… and ${plan.length - shown.length} more`] : shown;
}

function lastSteps(events: readonly SessionEvent[]): string[] {
  const told: string[] = [];
  for (let index = events.length - 1; index >= 0 && told.length < STEPS_SHOWN; index -= 1) {
    const event = events[index];
    const line = event === undefined ? undefined : tell(event);
    if (line !== undefined) told.unshift(line);
  }
  return told;
}

function tell(event: SessionEvent): string | undefined {
  const words = WORDS[event.type] as ((event: SessionEvent) => string | undefined) | undefined;
  return words?.(event);
}

type Words = { [T in EventType]?: (event: EventOf<T>) => string | undefined };

const WORDS: Words = {
  user_message: ({ text }) => `user: ${brief(text)}`,
  assistant_message: ({ text }) => (text === '' ? undefined : `agent: ${brief(text)}`),
  tool_call: ({ tool, target }) => brief(`${tool}: ${target}`),
  tool_result: ({ status, recovered, output }) =>
    `result ${status}${recovered === true ? ' (recovered)' : ''}: ${brief(output)}`,
  tool_recovery: ({ status, evidence }) => `recovery: ${status}. ${brief(evidence)}`,
  summary_created: ({ through_seq, tokens_before, tokens_after }) =>
    `summary: events up to ${through_seq}, ${tokens_before} to ${tokens_after} tokens`,
  compaction_failed: ({ error }) => `no summary: ${brief(error.message)}`,
  run_finished: ({ status, error }) =>
    `run ended: ${status}${error === null ? '' : `: ${brief(error.message)}`}`,
};

const BRIEF_CHARS = 120;

function brief(text: string): string {
  const line = oneLine(text);
  return escape(line.length > BRIEF_CHARS ? `${line.slice(0, BRIEF_CHARS).toWellFormed()}…` : line);
}

/** Text that stands within a line: a line break would end the list or the emphasis around it. */
function escape(text: string): string {
  return oneLine(text).replaceAll(/[\\`*_[\]<>#~|&]/g, '\\$&');
}

/**
 * Inline code. Nothing is escaped in it; what ends it is a run of as many backticks as began it, so these are
 * one more than the longest run inside (https://spec.commonmark.org/0.31.2/#code-spans).
 */
function code(text: string): string {
  const line = oneLine(text);
  const runs = (line.match(/`+/g) ?? []).map((run) => run.length);
  const fence = '`'.repeat(Math.max(0, ...runs) + 1);
  // A blank at both ends is not shown; without it a backtick at an end would join the fence.
  const pad = line === '' || line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
