/** What nextStep decides because of the goal. */
import type { RunError } from './failure.ts';
import { HOLDFAST } from './goal.ts';
import type { GoalState, GoalVerdict } from './goal.ts';
import { goalPrompt } from './goalPrompt.ts';
import { isSpinning } from './goalRun.ts';
import type { RunState, SessionState } from './session.ts';

/** Records a change of the goal that follows from what happened. */
export type ChangeGoal = { do: 'change_goal' } & GoalVerdict;

/** `until`: when there is something to do by itself; absent: never. */
export interface Wait {
  do: 'wait';
  until?: string;
}

/** What has to be recorded of the goal before anything else. */
export function dueChange({ goal }: SessionState): ChangeGoal | undefined {
  return goal === null || goal.verdict === null ? undefined : { do: 'change_goal', ...goal.verdict };
}

/** The next run of an active goal, or the wait for it; undefined when nothing happens by itself. */
export function nextGoalRun(
  state: SessionState,
  now: string,
):
  | ChangeGoal
  | Wait
  | { do: 'start_run'; trigger: 'goal'; message_ids: string[]; prompt: string }
  | undefined {
  const { goal, status } = state;
  if (goal === null || goal.status !== 'active' || status !== 'active') return undefined;
  const limit = budgetChange(state);
  if (limit !== undefined) return limit;
  // Times of one form (ISO 8601 in UTC, with milliseconds) compare as texts.
  if (goal.next_run_at !== null && now < goal.next_run_at) return { do: 'wait', until: goal.next_run_at };
  return { do: 'start_run', trigger: 'goal', message_ids: [], prompt: goalPrompt(goal) };
}

/** The stop before a model call that the budget does not cover any more. */
export function budgetChange({ goal, session_id }: SessionState): ChangeGoal | undefined {
  if (goal === null || goal.status !== 'active' || !isUsedUp(goal)) return undefined;
  const note = `The budget of ${goal.budget} tokens is used up: ${goal.tokens_used} were used. ${raise(session_id)}`;
  return { do: 'change_goal', status: 'budget_limited', by: HOLDFAST, note };
}

/** How a run that a goal began ends when the goal does not want it any more; undefined while it does. */
export function goalRunEnd(
  { goal, session_id }: SessionState,
  run: RunState,
): { do: 'finish_run'; status: 'success' | 'failed'; error: RunError | null } | undefined {
  if (run.trigger !== 'goal' || wantsMore(goal, run)) return undefined;
  // Of a goal that was cleared or replaced since there is nothing more to do.
  if (goal === null || !isOwn(goal, run) || goal.status !== 'budget_limited') {
    return { do: 'finish_run', status: 'success', error: null };
  }
  const message = `The goal has used ${goal.tokens_used} tokens of its budget of ${goal.budget}.`;
  const error = { code: 'goal.budget_limited', message, remedy: raise(session_id) };
  return { do: 'finish_run', status: 'failed', error };
}

function wantsMore(goal: GoalState | null, run: RunState): boolean {
  if (goal === null || goal.run === null || !isOwn(goal, run) || goal.status !== 'active') return false;
  return goal.run.wait_seconds === null && !isSpinning(goal.run);
}

function isOwn(goal: GoalState, { run_id }: RunState): boolean {
  return goal.run?.run_id === run_id;
}

function isUsedUp({ budget, tokens_used }: GoalState): boolean {
  return budget !== null && tokens_used >= budget;
}

function raise(session_id: string): string {
  return `Raise it with \`holdfast goal ${session_id} budget N\`; the goal goes on then.`;
}
