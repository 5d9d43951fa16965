/** What a failed call to Temporal means, by its gRPC status (https://grpc.io/docs/guides/status-codes/). */

export const GRPC = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** The status of an error or of what caused it, or undefined when no gRPC call is behind it. */
export function grpcCode(error: unknown): number | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'number') return at.code;
  }
  return undefined;
}

/** What the server said, without the SDK's wrapping. */
export function grpcDetails(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('details' in at && typeof at.details === 'string' && at.details !== '') return at.details;
  }
  return error instanceof Error ? error.message : String(error);
}

/** No such workflow. */
export function isNotFound(error: unknown): boolean {
  return grpcCode(error) === GRPC.notFound || nameOf(error) === 'WorkflowNotFoundError';
}

/** The workflow to start is there already. */
export function isAlreadyStarted(error: unknown): boolean {
  return grpcCode(error) === GRPC.alreadyExists || nameOf(error) === 'WorkflowExecutionAlreadyStartedError';
}

/**
 * The server can't be reached now, is too busy, or gave up on the call, which it says with `CANCELLED`: the
 * same call may work in a moment. Whoever cancels a call himself has to look at that first.
 */
export function isUnavailable(error: unknown): boolean {
  const code = grpcCode(error);
  return (
    isUnreachable(error) ||
    code === GRPC.resourceExhausted ||
    code === GRPC.aborted ||
    code === GRPC.cancelled
  );
}

/** Nothing answers at the address: refused, or not reached within the deadline. */
export function isUnreachable(error: unknown): boolean {
  const code = grpcCode(error);
  if (code === GRPC.unavailable) return true;
  if (code !== GRPC.deadlineExceeded) return false;
  // The words of grpc-js for its own deadline (resolving-call.ts), with the peer where there was one
  // (subchannel-call.ts); a deadline that the server has noticed comes in the server's words.
  const details = grpcDetails(error);
  return details.startsWith('Deadline exceeded after') && !details.includes('remote_addr=');
}

/**
 * A query that nobody answered: no worker polls, the workflow's first task is still to come
 * (`FAILED_PRECONDITION`), or one query is buffered already (`RESOURCE_EXHAUSTED`).
 */
export function isUnanswered(error: unknown): boolean {
  const code = grpcCode(error);
  return code === GRPC.deadlineExceeded || code === GRPC.failedPrecondition || isUnavailable(error);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}
