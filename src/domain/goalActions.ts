/** What a user may do about a goal. The same rules let the workflow act and the command line refuse. */
import type { EventBody } from './event.ts';
import type { Goal } from './goal.ts';
import { GOAL_OBJECTIVE_MAX_CHARS } from './limits.ts';

export type GoalAction =
  /** A new goal, instead of the one before if there is one. */
  | { do: 'set'; objective: string; budget: number | null }
  | { do: 'pause' }
  | { do: 'resume' }
  | { do: 'clear' }
  /** Null: no budget. A goal that had reached its budget goes on. */
  | { do: 'budget'; budget: number | null };

/** Why an action can't be taken, in the form of all errors. */
export interface GoalRefusal {
  expected: string;
  found: string;
  remedy: string;
}

/** The event of an action, or why there is none. `goal`: as it is now. */
export function actOnGoal(goal: Goal | null, action: GoalAction, by: string): EventBody | GoalRefusal {
  if (action.do === 'set') return set(action, by);
  if (goal === null) {
    return {
      expected: 'a session with a goal',
      found: 'one without',
      remedy: 'Set one with `holdfast goal ID set TEXT`.',
    };
  }
  switch (action.do) {
    case 'pause':
      return goal.status === 'active'
        ? { type: 'goal_changed', by, status: 'paused' }
        : { expected: 'an active goal', found: words(goal), remedy: 'There is nothing to pause.' };
    case 'resume':
      return resume(goal, by);
    case 'clear':
      return { type: 'goal_cleared', by };
    case 'budget':
      return changeBudget(goal, action.budget, by);
    default:
      return action satisfies never;
  }
}

/** Whether the goal is worked on from this event on, for which its session has to be open. */
export function goesOn(event: EventBody): boolean {
  return event.type === 'goal_set' || (event.type === 'goal_changed' && event.status === 'active');
}

/** Whether an action was refused. */
export function isRefusal(answer: EventBody | GoalRefusal): answer is GoalRefusal {
  return 'expected' in answer;
}

function set({ objective, budget }: Extract<GoalAction, { do: 'set' }>, by: string): EventBody | GoalRefusal {
  const text = objective.trim();
  if (text === '' || text.length > GOAL_OBJECTIVE_MAX_CHARS) {
    return {
      expected: `a goal of 1 to ${GOAL_OBJECTIVE_MAX_CHARS} characters`,
      found: `${text.length}`,
      remedy: 'Put the long part into a file of the workspace and name the file in the goal.',
    };
  }
  if (!isBudget(budget)) return noBudget(budget);
  return { type: 'goal_set', objective: text, budget, by };
}

function resume(goal: Goal, by: string): EventBody | GoalRefusal {
  if (goal.status === 'active') {
    return { expected: 'a goal that has stopped', found: words(goal), remedy: 'It goes on already.' };
  }
  if (goal.status === 'complete') {
    return {
      expected: 'a goal that is not reached yet',
      found: words(goal),
      remedy: 'Set a new one with `holdfast goal ID set TEXT`.',
    };
  }
  if (goal.budget !== null && goal.tokens_used >= goal.budget) return tooSmall(goal, goal.budget);
  return { type: 'goal_changed', by, status: 'active' };
}

function changeBudget(goal: Goal, budget: number | null, by: string): EventBody | GoalRefusal {
  if (!isBudget(budget)) return noBudget(budget);
  if (goal.status === 'complete') {
    return {
      expected: 'a goal that goes on',
      found: words(goal),
      remedy: 'There is nothing left to spend it on.',
    };
  }
  if (budget !== null && budget <= goal.tokens_used) return tooSmall(goal, budget);
  // Who raises the budget of a goal that stopped at it wants it to go on.
  const resumed = goal.status === 'budget_limited' ? { status: 'active' as const } : {};
  return { type: 'goal_changed', by, budget, ...resumed };
}

function tooSmall({ tokens_used }: Goal, budget: number): GoalRefusal {
  return {
    expected: `a budget of more than the ${tokens_used} tokens that the goal has used`,
    found: `${budget}`,
    remedy: 'Give a larger one with `holdfast goal ID budget N`, or `none`.',
  };
}

function noBudget(budget: unknown): GoalRefusal {
  return {
    expected: 'a budget that is a whole number of tokens, more than 0',
    found: JSON.stringify(budget),
    remedy: 'Give one with `--budget N` or `holdfast goal ID budget N`, or none.',
  };
}

function isBudget(budget: number | null): boolean {
  return budget === null || (Number.isSafeInteger(budget) && budget > 0);
}

function words({ status }: Goal): string {
  return `one that is ${status.replace('_', ' ')}`;
}
