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

function updateGoal(goal: GoalState | null, { status, note, wait_seconds }: UpdateGoal): KeptOutcome {
  if (goal === null) {
    return failed(
      'This session has no goal, and only the user can set one. Nothing was changed; go on without it.',
    );
  }
  if (goal.status !== 'active' && (goal.status === 'complete' || status !== 'complete')) {
    return failed(`The goal is ${goal.status}, and only the user can change that. Nothing was changed.`);
  }
  const waits = status === 'active' && wait_seconds !== undefined ? { wait_seconds } : {};
  const same = status === goal.status && note === goal.note && wait_seconds === undefined;
  const changes: EventBody[] = same ? [] : [{ type: 'goal_changed', by: MODEL, status, note, ...waits }];
  const unchanged =
    status === goal.status && note === goal.note
      ? ' The note is the same as before, so this is no progress.'
      : '';
  return success(
    changes,
    `The goal is ${status}.${unchanged}${'wait_seconds' in waits ? ' It goes on by itself later.' : ''}`,
  );
}

function success(changes: EventBody[], output: string): KeptOutcome {
  return { changes, status: 'success', output };
}

function failed(output: string): KeptOutcome {
  return { changes: [], status: 'failed', output };
}
