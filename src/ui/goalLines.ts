/** Goal and plan for a reader. */
import type { KnownFacts } from '../client/facts.ts';
import type { Goal, PlanStep } from '../domain/goal.ts';
import { planLine } from '../domain/goalPrompt.ts';
import type { Styles } from './style.ts';
import { count, oneLine, printable } from './text.ts';
import { duration } from './time.ts';

type Task = Pick<KnownFacts, 'goal' | 'plan'>;

/** All of the goal, for `holdfast goal`. */
export function goalText({ goal, plan }: Task, styles: Styles, now = Date.now()): string[] {
  if (goal === null) return ['no goal'];
  return [
    styles.bold(goalSummary(goal, now)),
    printable(goal.objective),
    ...(goal.note === '' ? [] : [printable(`note: ${goal.note}`)]),
    ...(plan === null ? [] : [planSummary(plan)]),
  ];
}

/** Lines for `holdfast show`. Of a worker of before there were goals, the facts have neither. */
export function taskLines({ goal = null, plan = null }: Partial<Task>, now: number): string[] {
  return [
    ...(goal === null ? [] : [`goal       ${goalSummary(goal, now)}`, `  ${oneLine(goal.objective)}`]),
    ...(goal === null || goal.note === '' ? [] : [`  note: ${oneLine(goal.note)}`]),
    ...(plan === null ? [] : [`plan       ${planSummary(plan)}`]),
    ...(plan ?? []).map((step) => `  ${oneLine(planLine(step))}`),
  ];
}

/** `active, 1,200 of 50,000 tokens, 3m 05s, next run in 12m 00s`. */
export function goalSummary(goal: Goal, now: number): string {
  const budget = goal.budget === null ? '' : ` of ${count(goal.budget)}`;
  const parts = [
    goal.status.replace('_', ' '),
    `${count(goal.tokens_used)}${budget} tokens`,
    // Whole seconds, so none that says `0.0s`.
    goal.seconds_used < 60 ? `${goal.seconds_used}s` : duration(goal.seconds_used * 1_000),
  ];
  const wait = goal.next_run_at === null ? 0 : Date.parse(goal.next_run_at) - now;
  return [...parts, ...(wait > 0 ? [`next run in ${duration(wait)}`] : [])].join(', ');
}

/** `12 of 43 steps done`. */
export function planSummary(plan: readonly PlanStep[]): string {
  const done = plan.filter(({ status }) => status === 'completed').length;
  return `${done} of ${plan.length} steps done`;
}
