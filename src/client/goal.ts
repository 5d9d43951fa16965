/** What a client does about a session's goal. */
import { actOnGoal, goesOn, isRefusal, type GoalAction } from '../domain/goalActions.ts';
import { HoldfastError } from './errors.ts';
import { facts, type KnownFacts } from './facts.ts';
import { sendGoal } from './send.ts';
import type { Service } from './service.ts';

/** Throws a HoldfastError for what no state of any session allows: a goal that is too long, a budget of 0. */
export function checkGoalAction(action: GoalAction): void {
  if (action.do === 'set') refuse(actOnGoal(null, action, ''), 'ID');
}

/**
 * Checks the action against the goal as it is, where a worker can be asked, and sends it; it is accepted durably
 * also where none can. `set` and `resume` open a closed session again. Resolves with what was known before.
 */
export async function actOnSessionGoal(
  service: Service,
  session_id: string,
  action: GoalAction,
  by: string,
): Promise<KnownFacts> {
  checkGoalAction(action);
  const known = await facts(service, session_id);
  // Where nobody can be asked, the workflow decides when it gets the signal.
  const event = actOnGoal(known.goal ?? null, action, by);
  if (!known.partial) refuse(event, session_id);
  await sendGoal(service, session_id, { by, action }, isRefusal(event) || goesOn(event));
  return known;
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
