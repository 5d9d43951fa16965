/** The tools that the session keeps itself: what a call of theirs changes. No activity, so nothing to lose. */
import type { EventBody } from './event.ts';
import { MODEL } from './goal.ts';
import type { GoalState, PlanStep } from './goal.ts';
import type { SessionState } from './session.ts';

/** The arguments of update_plan. */
export interface UpdatePlan {
  steps: PlanStep[];
}

/** The arguments of update_goal. */
export interface UpdateGoal {
  status: 'active' | 'complete' | 'blocked';
  note: string;
  wait_seconds?: number | undefined;
}

/** What to record of a call, and its result. */
export interface KeptOutcome {
  changes: EventBody[];
  status: 'success' | 'failed';
  output: string;
}

/** What a call with checked arguments comes to; undefined when the tool is not one of these. */
export function keepCall(state: SessionState, tool: string, args: unknown): KeptOutcome | undefined {
  if (tool === 'update_plan') return updatePlan(state, args as UpdatePlan);
  if (tool === 'update_goal') return updateGoal(state.goal, args as UpdateGoal);
  return undefined;
}

function updatePlan({ plan }: SessionState, { steps }: UpdatePlan): KeptOutcome {
  const count = (status: PlanStep['status']): number => steps.filter((step) => step.status === status).length;
  const words = `${steps.length} steps: ${count('completed')} completed, ${count('in_progress')} in progress, ${count('pending')} pending.`;
  const same = JSON.stringify(steps) === JSON.stringify(plan);
  if (same) return success([], `The plan was the same already. ${words}`);
  return success([{ type: 'plan_changed', steps }], `The plan is kept. ${words}`);
}

function updateGoal(goal: GoalState | null, args: UpdateGoal): KeptOutcome {
  if (goal === null) {
    return failed(
      'This session has no goal, and only the user can set one. Nothing was changed; go on without it.',
    );
  }
  if (!mayChange(goal, args)) {
    return failed(`The goal is ${goal.status}, and only the user can change that. Nothing was changed.`);
  }
  const { status, note } = args;
  const wait = status === 'active' ? args.wait_seconds : undefined;
  const same = status === goal.status && note === goal.note;
  const words = [
    `The goal is ${status}.`,
    ...(same ? ['The note is the same as before, so this is no progress.'] : []),
    ...(wait === undefined ? [] : ['It goes on by itself later.']),
  ];
  if (same && wait === undefined) return success([], words.join(' '));
  const waiting = wait === undefined ? {} : { wait_seconds: wait };
  return success([{ type: 'goal_changed', by: MODEL, status, note, ...waiting }], words.join(' '));
}

/** A goal that has stopped can be found reached; to let it go on is for the user. */
function mayChange(goal: GoalState, { status }: UpdateGoal): boolean {
  return goal.status === 'active' || (goal.status !== 'complete' && status === 'complete');
}

function success(changes: EventBody[], output: string): KeptOutcome {
  return { changes, status: 'success', output };
}

function failed(output: string): KeptOutcome {
  return { changes: [], status: 'failed', output };
}
