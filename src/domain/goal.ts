/**
 * A session's task state: the goal that it works on by itself, and the plan. Both are kept by the workflow as
 * folds of events (goalFold.ts), so that no compaction, crash or restart changes a word of them.
 */

/** Only an `active` goal starts runs. Only the user makes another one active again. */
export type GoalStatus = 'active' | 'paused' | 'blocked' | 'usage_limited' | 'budget_limited' | 'complete';

/** What is shown of a goal. */
export interface Goal {
  /** As the user wrote it; at most GOAL_OBJECTIVE_MAX_CHARS. */
  objective: string;
  status: GoalStatus;
  /** Tokens that it may use; null: as many as it takes. */
  budget: number | null;
  /** Input and output of every model call that began while it was active. */
  tokens_used: number;
  /** Of runs, as long as it was active. Never negative. */
  seconds_used: number;
  /** The last word on it, of the model or of Holdfast; empty: none. At most GOAL_NOTE_MAX_CHARS. */
  note: string;
  created_at: string;
  updated_at: string;
  /** Its runs in a row that changed neither a file nor the plan; they space the next runs out. */
  idle_runs: number;
  /** Its runs in a row that changed nothing at all; GOAL_STALLED_RUNS_MAX of them end it as blocked. */
  stalled_runs: number;
  /** When the next run begins by itself; null: at once, or not at all. */
  next_run_at: string | null;
}

/** A step of the plan, word for word as the model wrote it. */
export interface PlanStep {
  step: string;
  status: 'pending' | 'in_progress' | 'completed';
}

/** The run of a goal that is under way, as far as it is judged by what it changes. */
export interface GoalRun {
  run_id: string;
  /** What it has changed so far. `news`: a command succeeded that no earlier run had run. */
  files: boolean;
  plan: boolean;
  goal: boolean;
  news: boolean;
  /** The model has said that nothing can be done for so long. */
  wait_seconds: number | null;
  /** Steps in a row that changed no file, plan or goal. */
  quiet_steps: number;
  /** Of these the last ones, as long as they made only calls that the run had made before. */
  repeated_steps: number;
  /** Calls so far, by their hash. */
  seen: string[];
  /** The calls of the step before. */
  last_step: string;
  /** Calls of the current step, by their hash; `fresh`: the operations among them that are new to the run. */
  calls: string[];
  fresh: string[];
  /** Commands of the current step that are new to the goal, by operation. */
  new_commands: string[];
  /** The current step has changed a file, the plan or the goal. */
  changed: boolean;
}

/** A change of the goal's status that follows from what happened, and is still to be recorded. */
export interface GoalVerdict {
  status: Exclude<GoalStatus, 'active' | 'complete'>;
  by: string;
  /** Absent: the last note stays. */
  note?: string;
}

/** A goal as the session carries it. */
export interface GoalState extends Goal {
  /** How long a second of waiting lasts; tests make it short. */
  second_ms: number;
  /** Its runs in a row that changed the plan and no file. */
  planned_runs: number;
  /** Since when the run under way counts for `seconds_used`. */
  timed_from: string | null;
  /** The model call under way counts for `tokens_used`. */
  paying: string | null;
  /** What was new once: versions of files, plans, notes, commands; by their hash, the last GOAL_SEEN_KEPT. */
  seen: string[];
  run: GoalRun | null;
  /** Its last run was ended because it only repeated itself. */
  cut_short: boolean;
  verdict: GoalVerdict | null;
}

/** Who changes a goal when its own model does. */
export const MODEL = 'model';
/** Who changes a goal when a rule of the session does. */
export const HOLDFAST = 'holdfast';

/** A session without a task, and what a state of before there were goals is completed with. */
export const NO_TASK: { goal: GoalState | null; plan: PlanStep[] } = { goal: null, plan: [] };

/** What is shown of the goal: nothing of the machine. */
export function describeGoal(goal: GoalState | null): Goal | null {
  if (goal === null) return null;
  return {
    objective: goal.objective,
    status: goal.status,
    budget: goal.budget,
    tokens_used: goal.tokens_used,
    seconds_used: Math.round(goal.seconds_used),
    note: goal.note,
    created_at: goal.created_at,
    updated_at: goal.updated_at,
    idle_runs: goal.idle_runs,
    stalled_runs: goal.stalled_runs,
    next_run_at: goal.next_run_at,
  };
}

/** Whether the plan has anything left to do. */
export function isOpen(plan: readonly PlanStep[]): boolean {
  return plan.some(({ status }) => status !== 'completed');
}
