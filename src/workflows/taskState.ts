/**
 * Goal and plan as the workflow keeps them: calls of their tools are settled where they are accepted, the
 * user's signals become events, and the wait for a goal's next run is a durable timer.
 */
import { condition } from '@temporalio/workflow';
import { actOnGoal, goesOn, isRefusal } from '../domain/goalActions.ts';
import type { GoalVerdict } from '../domain/goal.ts';
import { keepCall } from '../domain/keptTools.ts';
import { msBetween } from '../domain/time.ts';
import { nextStep } from '../domain/step.ts';
import type { GoalSignal } from './contract.ts';
import type { SessionMachine } from './machine.ts';

/** An accepted call with its parsed arguments. */
interface KeptCall {
  call_id: string;
  operation_id: string;
  tool: string;
  args: unknown;
}

/** Settles a call of a tool that the session keeps itself; any other is left to be run. */
export function settleKept(machine: SessionMachine, { call_id, operation_id, tool, args }: KeptCall): void {
  const kept = keepCall(machine.state, tool, args);
  if (kept === undefined) return;
  for (const change of kept.changes) machine.emit(change);
  const { status, output } = kept;
  machine.emit({ type: 'tool_result', call_id, operation_id, status, output });
}

/** What the user says about the goal. What can't be done any more when it arrives is dropped: the client has asked before. */
export function acceptGoal(machine: SessionMachine, { by, action }: GoalSignal): void {
  const event = actOnGoal(machine.state.goal, action, by);
  if (isRefusal(event)) return;
  if (goesOn(event) && machine.state.status !== 'active') machine.emit({ type: 'session_reopened' });
  const { goal_second_ms: second_ms } = machine;
  machine.emit(event.type === 'goal_set' && second_ms !== undefined ? { ...event, second_ms } : event);
}

/** Records what a rule of the session has decided about the goal. */
export function changeGoal(machine: SessionMachine, { status, by, note }: GoalVerdict): void {
  machine.emit({ type: 'goal_changed', by, status, ...(note === undefined ? {} : { note }) });
}

/**
 * Waits until there is something else to do. `until`: a durable timer wakes it then, on whichever worker is
 * there. Without it there is no timer, and nothing in Temporal's history.
 */
export async function rest(machine: SessionMachine, until: string | undefined): Promise<void> {
  const isOver = (): boolean => {
    const next = nextStep(machine.state, machine.pressure());
    return next.do !== 'wait' || next.until !== until;
  };
  if (until === undefined) return condition(isOver);
  const ms = Math.max(1, msBetween(machine.now(), until));
  // The Web UI names the timer so.
  if (!(await condition(isOver, ms, { summary: 'until the next run of the goal' }))) machine.reach(until);
}
