/** How `tool_recovery` changes the session: what is uncertain, and what happens to the call next. */
import type { EventOf } from './event.ts';
import { UNCERTAIN_KEPT } from './limits.ts';
import type { CallState, SessionState, UncertainOperation } from './session.ts';
import { inRun, kept, withCall } from './stateChanges.ts';

/** The state after what was found out about a call, or said of it by a person. */
export function recover(state: SessionState, event: EventOf<'tool_recovery'>): SessionState {
  const { call_id, operation_id, status, evidence, seq } = event;
  const others = state.uncertain.filter((operation) => operation.operation_id !== operation_id);
  const known =
    state.run?.calls.find((call) => call.operation_id === operation_id) ??
    state.uncertain.find((operation) => operation.operation_id === operation_id);
  const open: UncertainOperation[] =
    status === 'completed' || status === 'not_run' || known === undefined
      ? []
      : [
          {
            call_id,
            operation_id,
            tool: known.tool,
            target: known.target,
            attempt: known.attempt,
            status,
            evidence,
            seq,
          },
        ];
  return {
    ...inRun(withCall(state, call_id, recoveredCall(event, known?.attempt ?? 0)), (run) => ({
      ...run,
      recoveries: run.recoveries + (isNewLoss(event, state.run?.calls ?? []) ? 1 : 0),
    })),
    uncertain: kept([...others, ...open], UNCERTAIN_KEPT),
    host_unreachable: status === 'uncertain' ? state.host_unreachable : false,
  };
}

/** Calls side by side are lost by one and the same crash. */
function isNewLoss({ status }: EventOf<'tool_recovery'>, calls: CallState[]): boolean {
  return status === 'uncertain' && calls.every((call) => call.status !== 'uncertain');
}

/** What a person settles is settled; what its tool found decides what happens to the call next. */
function recoveredCall({ by, status }: EventOf<'tool_recovery'>, attempt: number): Partial<CallState> {
  if (by === 'user') return { status: 'settled' };
  switch (status) {
    case 'uncertain':
    case 'completed': // its tool_result follows
      return { status: 'uncertain' };
    case 'running':
      return { status: 'attached' };
    case 'not_run':
      return { status: 'pending', attempt: attempt + 1 };
    case 'unknown':
      return { status: 'settled' };
    default:
      return status satisfies never;
  }
}
