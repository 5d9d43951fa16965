/**
 * How each event changes the goal and the plan. What counts as progress of a run of the goal:
 * - a file: a call with side effects left a version of a file that is not the one before and that the goal has
 *   not seen yet (writing the same again, or going back and forth, is none), or a commit was made;
 * - the plan, the goal's note: it reads as it has not read before;
 * - news: a command of bash succeeded that no earlier run had run. It may have changed something and nobody
 *   knows, so it keeps the goal from being stopped as stalled; it does not shorten the rest between runs.
 */
import type { EventOf, EventType, SessionEvent } from './event.ts';
import { HOLDFAST, MODEL } from './goal.ts';
import type { GoalRun, GoalState } from './goal.ts';
import { closeStep, newRun } from './goalRun.ts';
import { closeRun } from './goalRunEnd.ts';
import { hashOf } from './hash.ts';
import { GOAL_SEEN_KEPT } from './limits.ts';
import type { SessionState } from './session.ts';
import { kept } from './stateChanges.ts';
import { later, msBetween } from './time.ts';
import { tokensOf, tokensOfText } from './tokens.ts';

/** `after`: the state with everything folded but the task. */
export function foldTask(before: SessionState, after: SessionState, event: SessionEvent): SessionState {
  if (event.type === 'goal_set') return { ...after, goal: newGoal(event, before) };
  if (event.type === 'goal_cleared') return { ...after, goal: null };
  const state = event.type === 'plan_changed' ? { ...after, plan: event.steps } : after;
  const fold = FOLDS[event.type] as
    | ((goal: GoalState, event: SessionEvent, before: SessionState) => GoalState)
    | undefined;
  if (before.goal === null || fold === undefined) return state;
  return { ...state, goal: fold(before.goal, event, before) };
}

function newGoal(event: EventOf<'goal_set'>, { run }: SessionState): GoalState {
  return {
    objective: event.objective,
    status: 'active',
    budget: event.budget,
    tokens_used: 0,
    seconds_used: 0,
    note: '',
    created_at: event.at,
    updated_at: event.at,
    ...FRESH_START,
    second_ms: event.second_ms ?? 1_000,
    timed_from: run === null ? null : event.at,
    paying: null,
    seen: [],
    run: null,
  };
}

/** After the user has spoken nothing of before counts against the next runs. */
const FRESH_START = {
  idle_runs: 0,
  stalled_runs: 0,
  planned_runs: 0,
  next_run_at: null,
  cut_short: false,
  verdict: null,
};

type Folds = {
  [T in EventType]?: (goal: GoalState, event: EventOf<T>, before: SessionState) => GoalState;
};

const FOLDS: Folds = {
  goal_changed: changeGoal,
  plan_changed: (goal, { steps }) =>
    inGoalRun(goal, (run) => {
      const mark = `plan ${hashOf(JSON.stringify(steps))}`;
      if (goal.seen.includes(mark)) return goal;
      return {
        ...goal,
        seen: kept([...goal.seen, mark], GOAL_SEEN_KEPT),
        run: { ...run, plan: true, changed: true },
      };
    }),
  user_message: (goal) => ({ ...goal, ...FRESH_START, verdict: goal.verdict }),
  run_started: startRun,
  model_called: (goal, { operation_id }) => ({
    ...goal,
    paying: goal.status === 'active' ? operation_id : null,
    run: goal.run && closeStep(goal.run),
  }),
  assistant_message: (goal, event) =>
    goal.paying === event.operation_id
      ? { ...goal, paying: null, tokens_used: goal.tokens_used + tokensOf(event) }
      : goal,
  summary_created: (goal, { usage, tokens_before, text }) => {
    if (goal.status !== 'active') return goal;
    const paid =
      usage === null ? tokens_before + tokensOfText(text) : usage.input_tokens + usage.output_tokens;
    return { ...goal, tokens_used: goal.tokens_used + paid };
  },
  tool_call: addCall,
  tool_result: judge,
  run_finished: (goal, event, before) => closeRun(stopClock(goal, event.at), event, before),
  session_completed: rest,
  session_archived: rest,
};

function changeGoal(goal: GoalState, event: EventOf<'goal_changed'>, before: SessionState): GoalState {
  const { status = goal.status, note = goal.note, budget = goal.budget, by, at } = event;
  const mark = `note ${hashOf(note)}`;
  const isNewNote = note !== goal.note && !goal.seen.includes(mark);
  const seen = isNewNote ? kept([...goal.seen, mark], GOAL_SEEN_KEPT) : goal.seen;
  // What is due to be recorded stays due, unless this records it or says otherwise.
  const verdict = status === goal.status ? goal.verdict : null;
  const base = { ...goal, note, budget, updated_at: at, seen, verdict };
  const changed = changeStatus(base, status, at, before);
  return by === MODEL ? changeByModel(changed, event, isNewNote || status !== goal.status) : changed;
}

function changeStatus(
  goal: GoalState,
  status: GoalState['status'],
  at: string,
  { run }: SessionState,
): GoalState {
  if (status !== 'active') return { ...stopClock(goal, at), status, next_run_at: null };
  if (goal.status === 'active') return goal;
  return { ...goal, ...FRESH_START, status, timed_from: run === null ? null : at };
}

function changeByModel(goal: GoalState, event: EventOf<'goal_changed'>, isNew: boolean): GoalState {
  const { run } = goal;
  if (run !== null) {
    const wait_seconds = event.wait_seconds ?? run.wait_seconds;
    return { ...goal, run: { ...run, goal: run.goal || isNew, changed: run.changed || isNew, wait_seconds } };
  }
  // In a run that answers the user, it says when the next run of the goal has something to do.
  if (event.wait_seconds === undefined || goal.status !== 'active') return goal;
  return { ...goal, next_run_at: later(event.at, event.wait_seconds * goal.second_ms) };
}

function startRun(goal: GoalState, event: EventOf<'run_started'>): GoalState {
  const active = goal.status === 'active';
  const begun = {
    ...goal,
    timed_from: active ? event.at : null,
    next_run_at: null,
    run: null,
  };
  if (!active || event.trigger !== 'goal') return begun;
  return { ...begun, cut_short: false, run: newRun(event.run_id ?? '') };
}

function addCall(goal: GoalState, event: EventOf<'tool_call'>): GoalState {
  const { operation_id, tool, target, args } = event;
  const mark = hashOf(`${tool} ${target} ${JSON.stringify(args)}`);
  return inGoalRun(goal, (run) => {
    const isNewCommand = tool === 'bash' && !goal.seen.includes(`run ${mark}`);
    return {
      ...goal,
      seen: isNewCommand ? kept([...goal.seen, `run ${mark}`], GOAL_SEEN_KEPT) : goal.seen,
      run: {
        ...run,
        calls: [...run.calls, mark],
        seen: kept([...run.seen, mark], GOAL_SEEN_KEPT),
        fresh: run.seen.includes(mark) ? run.fresh : [...run.fresh, operation_id],
        new_commands: isNewCommand ? [...run.new_commands, operation_id] : run.new_commands,
      },
    };
  });
}

/** What a result says about progress. */
function judge(goal: GoalState, event: EventOf<'tool_result'>, before: SessionState): GoalState {
  const call = before.run?.calls.find(({ operation_id }) => operation_id === event.operation_id);
  if (event.status !== 'success' || call?.effect !== 'side_effect') return goal;
  return inGoalRun(goal, (run) => {
    const news = run.news || (run.new_commands.includes(event.operation_id) && (event.exit_code ?? 0) === 0);
    const marks = newVersions(goal, event, before);
    const files = marks.length > 0 || call.tool === 'git_commit';
    return {
      ...goal,
      seen: kept([...goal.seen, ...marks], GOAL_SEEN_KEPT),
      run: { ...run, news, files: run.files || files, changed: run.changed || files },
    };
  });
}

function newVersions(
  goal: GoalState,
  event: EventOf<'tool_result'>,
  { file_versions }: SessionState,
): string[] {
  return (event.versions ?? [])
    .filter(({ path, version }) => {
      const known = file_versions.find((seen) => seen.path === path);
      return known === undefined || known.version !== version;
    })
    .map(({ path, version }) => `file ${hashOf(`${path} ${version}`)}`)
    .filter((mark) => !goal.seen.includes(mark));
}

function rest(goal: GoalState, event: SessionEvent): GoalState {
  if (goal.status !== 'active') return goal;
  const word = event.type === 'session_archived' ? 'archived' : 'completed';
  return { ...goal, verdict: { status: 'paused', by: HOLDFAST, note: `The session was ${word}.` } };
}

function stopClock(goal: GoalState, at: string): GoalState {
  if (goal.timed_from === null) return goal;
  const seconds = goal.seconds_used + msBetween(goal.timed_from, at) / 1_000;
  return { ...goal, seconds_used: Math.round(seconds * 1_000) / 1_000, timed_from: null };
}

function inGoalRun(goal: GoalState, change: (run: GoalRun) => GoalState): GoalState {
  return goal.run === null ? goal : change(goal.run);
}
