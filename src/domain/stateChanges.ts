/** Changes that folds of several events share. */
import type { CallState, RunState, SessionState } from './session.ts';

/** With the run under way changed; without one as it is. */
export function inRun(state: SessionState, change: (run: RunState) => RunState): SessionState {
  return state.run === null ? state : { ...state, run: change(state.run) };
}

/** With one call of the current step changed. */
export function withCall(state: SessionState, call_id: string, change: Partial<CallState>): SessionState {
  return inRun(state, (run) => ({
    ...run,
    calls: run.calls.map((call) => (call.call_id === call_id ? { ...call, ...change } : call)),
  }));
}

/** The last `limit` of them. */
export function kept<T>(items: T[], limit: number): T[] {
  return items.length > limit ? items.slice(items.length - limit) : items;
}
