/** The words about goal and plan that a model is sent. */
import type { SessionEvent } from './event.ts';
import type { Goal, GoalState, PlanStep } from './goal.ts';
import { isOpen } from './goal.ts';
import { GOAL_STALLED_RUNS_MAX, GOAL_WAIT_MAX_SECONDS } from './limits.ts';
import type { SessionState } from './session.ts';

/** What begins a run that the goal starts by itself. */
export function goalPrompt(goal: GoalState): string {
  return [
    `Goal: ${goal.objective}`,
    [
      'Go on with this goal by yourself: nobody reads along, and nobody answers questions now. Do the next piece of work. When your reply asks for no tool this run ends, and the next one begins by itself.',
      '- Reached, and you saw that it is: update_goal with status complete and a note that says how you checked it.',
      '- Only the user can help: update_goal with status blocked and a note that says what you need.',
      `- Nothing can be done now, because something outside takes its time: update_goal with status active, wait_seconds (at most ${GOAL_WAIT_MAX_SECONDS}) and a note that says what you wait for, what you saw last and when. Do not poll and do not sleep.`,
    ].join('\n'),
    [usedWords(goal), ...noteWords(goal), ...stallWords(goal)].join('\n'),
  ].join('\n\n');
}

function usedWords({ tokens_used, budget }: Goal): string {
  return `Tokens used so far: ${tokens_used}${budget === null ? '' : ` of a budget of ${budget}; at the budget the work stops`}.`;
}

function noteWords({ note }: Goal): string[] {
  return note === '' ? [] : [`Last note: ${note}`];
}

function stallWords({ stalled_runs, cut_short }: GoalState): string[] {
  const cut = cut_short
    ? [
        'The last run was ended, because it only made calls that it had made before, or changed nothing for very long.',
      ]
    : [];
  if (stalled_runs === 0) return cut;
  const runs = stalled_runs === 1 ? 'The last run' : `The last ${stalled_runs} runs`;
  return [
    ...cut,
    `${runs} changed no file, no plan and no note. After ${GOAL_STALLED_RUNS_MAX} such runs in a row the goal is stopped as blocked.`,
  ];
}

/**
 * Blocks for the system message: the goal, until it is complete, and the plan, when it has anything left to do
 * and the call that wrote it is not among `visible` any more. Without numbers that grow, since each change of the
 * system message makes the provider read the whole conversation anew.
 */
export function taskBlocks({ goal, plan }: SessionState, visible: readonly SessionEvent[]): string[] {
  const goalBlock =
    goal === null || goal.status === 'complete'
      ? []
      : [`<goal status="${goal.status}">\n${goal.objective}\n</goal>`];
  if (!isOpen(plan) || visible.some(({ type }) => type === 'plan_changed')) return goalBlock;
  const head = 'The plan as you wrote it last with update_plan:';
  return [...goalBlock, ['<plan>', head, ...plan.map(planLine), '</plan>'].join('\n')];
}

/** `[x] read the code`. */
export function planLine({ step, status }: PlanStep): string {
  return `[${PLAN_MARKS[status]}] ${step}`;
}

const PLAN_MARKS = { pending: ' ', in_progress: '~', completed: 'x' };
