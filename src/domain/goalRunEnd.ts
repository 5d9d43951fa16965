/** What the end of a run means for the goal: when the next one begins, or why none does. */
import type { EventOf } from './event.ts';
import type { RunError } from './failure.ts';
import { HOLDFAST } from './goal.ts';
import type { GoalRun, GoalState, GoalVerdict } from './goal.ts';
import { isSpinning } from './goalRun.ts';
import {
  GOAL_BACK_OFF_SECONDS,
  GOAL_NOTE_MAX_CHARS,
  GOAL_PAUSE_SECONDS,
  GOAL_PLANNED_RUNS_MAX,
  GOAL_STALLED_RUNS_MAX,
} from './limits.ts';
import type { RunState, SessionState } from './session.ts';
import { later } from './time.ts';

/** Failures that pass by themselves. The goal rests and tries again; they say nothing about its progress. */
const PASSING = new Set([
  'model.unavailable',
  'model.stalled',
  'model.rate_limited',
  'session.log_unavailable',
]);
/** The model answered, and with nothing that helps: a run without progress like any other. */
const USELESS = new Set(['model.malformed']);

/** The goal after any run of its session has ended. */
export function closeRun(goal: GoalState, event: EventOf<'run_finished'>, before: SessionState): GoalState {
  const closed = { ...goal, run: null, paying: null };
  if (goal.status !== 'active' || before.run === null) return closed;
  const interrupt = interruptVerdict(event, before.run);
  if (interrupt !== null) return { ...closed, verdict: closed.verdict ?? interrupt };
  if (goal.run?.run_id !== before.run.run_id) return closed;
  const rested = schedule(closed, goal.run, event);
  return { ...rested, verdict: closed.verdict ?? failureVerdict(event.error) ?? stallVerdict(rested) };
}

/** Else it would start again at once. Who has to be asked first is the user. */
function interruptVerdict(
  { status }: EventOf<'run_finished'>,
  { interrupted_by }: RunState,
): GoalVerdict | null {
  if (status !== 'interrupted' && interrupted_by === null) return null;
  return { status: 'paused', by: interrupted_by ?? HOLDFAST };
}

function schedule(goal: GoalState, run: GoalRun, { at, error }: EventOf<'run_finished'>): GoalState {
  const passing = error !== null && PASSING.has(error.code);
  const planned_runs = planOnlyRuns(goal, run);
  const getsOn = run.files || (run.plan && planned_runs <= GOAL_PLANNED_RUNS_MAX);
  // After a failure there is a rest in any case.
  const idle_runs = getsOn ? Number(passing) : goal.idle_runs + 1;
  const seconds = Math.max(restSeconds(idle_runs), run.wait_seconds ?? 0);
  return {
    ...goal,
    idle_runs,
    planned_runs,
    stalled_runs: stalledRuns(goal, run, passing),
    next_run_at: later(at, seconds * goal.second_ms),
    cut_short: isSpinning(run),
    updated_at: at,
  };
}

function stalledRuns({ stalled_runs }: GoalState, run: GoalRun, passing: boolean): number {
  if (run.files || run.plan || run.goal || run.news) return 0;
  return passing ? stalled_runs : stalled_runs + 1;
}

function planOnlyRuns(goal: GoalState, run: GoalRun): number {
  if (run.files) return 0;
  return run.plan ? goal.planned_runs + 1 : goal.planned_runs;
}

function restSeconds(idle_runs: number): number {
  if (idle_runs === 0) return GOAL_PAUSE_SECONDS;
  return GOAL_BACK_OFF_SECONDS[Math.min(idle_runs, GOAL_BACK_OFF_SECONDS.length) - 1] ?? 0;
}

function failureVerdict(error: RunError | null): GoalVerdict | null {
  if (error === null || PASSING.has(error.code) || USELESS.has(error.code)) return null;
  const status = error.code === 'model.quota_exhausted' ? 'usage_limited' : 'blocked';
  return { status, by: HOLDFAST, note: noteOf(`${error.message} ${error.remedy}`) };
}

function stallVerdict({ stalled_runs, note }: GoalState): GoalVerdict | null {
  if (stalled_runs < GOAL_STALLED_RUNS_MAX) return null;
  const last = note === '' ? '' : ` The last note was: ${note}`;
  const why = `${GOAL_STALLED_RUNS_MAX} runs in a row changed no file, no plan and no note. See what they did, tell the session what to do, and resume the goal.`;
  return { status: 'blocked', by: HOLDFAST, note: noteOf(why + last) };
}

function noteOf(text: string): string {
  return text.slice(0, GOAL_NOTE_MAX_CHARS).toWellFormed();
}
