/** States of earlier versions of Holdfast, as continue-as-new and archives carry them. */
import { NEVER_COMPACTED } from './compaction.ts';
import { NO_TASK } from './goal.ts';
import type { SessionState } from './session.ts';

/** The state with everything that this version knows. A field that came later has the value that it has in a new session. */
export function upgradeState(state: SessionState): SessionState {
  return { ...NEVER_COMPACTED, ...NO_TASK, ...state };
}
