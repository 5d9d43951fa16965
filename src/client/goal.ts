/** What a client does about a session's goal. */
import { actOnGoal, goesOn, isRefusal, type GoalAction } from '../domain/goalActions.ts';
import type { Goal } from '../domain/goal.ts';
import { HoldfastError } from './errors.ts';
import { facts } from './facts.ts';
import { sendGoal } from './send.ts';
import type { Service } from './service.ts';

/** Throws a HoldfastError for what no state of any session allows: a goal that is too long, a budget of 0. */
export function checkGoalAction(action: GoalAction): void {
  if (action.do === 'set') refuse(actOnGoal(null, action, ''), 'ID');
}

/** For the check before; a worker that was killed is up again after about two seconds. */
const PATIENCE_MS = 5_000;

/**
 * Checks the action against the goal as it is, where a worker can be asked, and sends it; it is accepted durably
 * also where none can. A goal that goes on opens a closed session again. Resolves with the goal as it was, null
 * also where that is not known.
 */
export async function actOnSessionGoal(
  service: Service,
  session_id: string,
  action: GoalAction,
  by: string,
): Promise<Goal | null> {
  checkGoalAction(action);
  // A new goal depends on nothing.
  const known =
    action.do === 'set' ? undefined : await facts(service, session_id, { patience_ms: PATIENCE_MS });
  const goal = known?.goal ?? null;
  const event = actOnGoal(goal, action, by);
  if (known !== undefined && !known.partial) refuse(event, session_id);
  await sendGoal(service, session_id, { by, action }, isRefusal(event) || goesOn(event));
  return goal;
}

function refuse(answer: ReturnType<typeof actOnGoal>, id: string): void {
  if (!isRefusal(answer)) return;
  const { expected, found, remedy } = answer;
  throw new HoldfastError(
    'goal.refused',
    `Expected ${expected}, found ${found}.`,
    remedy.replaceAll(' ID ', ` ${id} `),
  );
}
