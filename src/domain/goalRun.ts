/** The run of a goal that is under way: whether its steps still lead anywhere. */
import type { GoalRun } from './goal.ts';
import { GOAL_QUIET_STEPS_MAX, GOAL_REPEATED_STEPS_MAX } from './limits.ts';

/** A run that has done nothing yet. */
export function newRun(run_id: string): GoalRun {
  return {
    run_id,
    files: false,
    plan: false,
    goal: false,
    news: false,
    wait_seconds: null,
    quiet_steps: 0,
    repeated_steps: 0,
    seen: [],
    last_step: '',
    calls: [],
    fresh: [],
    new_commands: [],
    changed: false,
  };
}

/** The run with its current step counted; a step that makes the very calls of the one before counts as enough. */
export function closeStep(run: GoalRun): GoalRun {
  if (run.calls.length === 0) return run;
  const step = run.calls.join(' ');
  const repeats = !run.changed && run.fresh.length === 0;
  const repeated = step === run.last_step ? GOAL_REPEATED_STEPS_MAX : run.repeated_steps + 1;
  return {
    ...run,
    quiet_steps: run.changed ? 0 : run.quiet_steps + 1,
    repeated_steps: repeats ? repeated : 0,
    last_step: step,
    calls: [],
    fresh: [],
    new_commands: [],
    changed: false,
  };
}

/**
 * Whether the run polls: it makes the same calls again while nothing changes, or goes on for very long without
 * changing anything. It is ended then, and the goal's back-off decides when it may look again.
 */
export function isSpinning(run: GoalRun): boolean {
  const { repeated_steps, quiet_steps } = closeStep(run);
  return repeated_steps >= GOAL_REPEATED_STEPS_MAX || quiet_steps >= GOAL_QUIET_STEPS_MAX;
}
