/** The dotted types of infrastructure failures: what an activity throws and the workflow decides by. */

/** Each type that crosses from an activity to the workflow. */
export type FailureType =
  | 'model.auth'
  | 'model.not_found'
  | 'model.bad_request'
  | 'model.rate_limited'
  | 'model.quota_exhausted'
  | 'model.unavailable'
  | 'model.stalled'
  | 'model.malformed'
  | 'model.context_too_long'
  | 'workspace.not_found'
  | 'worker.lost'
  | 'operation.fenced'
  | 'operation.lost'
  | 'session.log_unavailable';

/** Why a run failed, in the one form of all errors: what happened and what to do next. */
export interface RunError {
  /** A FailureType, or `crash_loop`, `goal.budget_limited`, `internal`. */
  code: string;
  message: string;
  remedy: string;
}
