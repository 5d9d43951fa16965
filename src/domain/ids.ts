/** Names that are derived, never drawn: the same on every retry, replay and reset. */

/** The Temporal workflow of a session. */
export function workflowId(session_id: string): string {
  return `holdfast/${session_id}`;
}

/** The n-th run of a session, counted from 1: `k3v9x2m7q4ta.r1`. */
export function runId(session_id: string, number: number): string {
  return `${session_id}.r${number}`;
}

/**
 * The idempotency key of one outside effect: `k3v9x2m7q4ta.r1.s3.0` is the model call of step 3, `.1` its
 * first tool call, and so on. Safe as a file name and as an HTTP header.
 */
export function operationId(run_id: string, step: number, index: number): string {
  return `${run_id}.s${step}.${index}`;
}

/** The idempotency key of a session's n-th summary, counted from 1: `k3v9x2m7q4ta.c1`. */
export function compactionId(session_id: string, number: number): string {
  return `${session_id}.c${number}`;
}

/** A session id has this form, so that it is safe in paths, headers and queries. */
export function isSessionId(text: string): boolean {
  return /^[a-z0-9]{12}$/.test(text);
}

/** Which worker serves a host's workspaces. */
export function hostTaskQueue(host: string): string {
  return `holdfast-host-${host}`;
}

/** Workflows and model calls. */
export const SESSION_TASK_QUEUE = 'holdfast';
