/** The one form of errors: what was expected, what was found, what to do next. */

/** The exit codes of the command line; a library user reads them as kinds. */
export const EXIT = {
  done: 0,
  runFailed: 1,
  usage: 2,
  waitingForPerson: 3,
  noService: 4,
  workspaceNotFound: 5,
  interrupted: 6,
  detached: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Any failure that a user can do something about. `code` is dotted and stable; `remedy` says what to do. */
export class HoldfastError extends Error {
  readonly code: string;
  readonly remedy: string;
  readonly exitCode: ExitCode;

  constructor(
    code: string,
    message: string,
    remedy: string,
    exitCode: ExitCode = EXIT.usage,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'HoldfastError';
    this.code = code;
    this.remedy = remedy;
    this.exitCode = exitCode;
  }
}

/** No session has this id, or an id that begins with it. */
export function sessionNotFound(id: string): HoldfastError {
  return new HoldfastError(
    'session.not_found',
    `Expected the id of a session, found ${JSON.stringify(id.slice(0, 80))}, which no session has.`,
    'List them with `holdfast sessions --all`.',
  );
}

/** An id's prefix that fits more than one session. */
export function ambiguousId(prefix: string, matches: string[]): HoldfastError {
  return new HoldfastError(
    'session.ambiguous',
    `Expected an id that fits one session, found ${JSON.stringify(prefix)}, which fits ${matches.length > 9 ? 'at least ' : ''}${matches.length}: ${matches.join(', ')}.`,
    'Give more letters of the id.',
  );
}

/** The folder that a session would work in is not there. */
export function workspaceNotFound(path: string, found: string): HoldfastError {
  return new HoldfastError(
    'workspace.not_found',
    `Expected a folder to work in at ${path}, found ${found}.`,
    'Give an existing folder with --workspace DIR; `holdfast rebind ID DIR` binds a session to another one.',
    EXIT.workspaceNotFound,
  );
}

/** The Temporal service can't be reached; `embedded`: it is this home's own. */
export function serviceUnreachable(
  { address, embedded }: { address: string; embedded: boolean },
  found: string,
  cause?: unknown,
): HoldfastError {
  return new HoldfastError(
    'service.unreachable',
    `Expected a Temporal service at ${address}, found ${found}.`,
    embedded
      ? '`holdfast up` starts what is missing, `holdfast doctor` says what is wrong. Nothing that was accepted is lost.'
      : 'Check TEMPORAL_ADDRESS and its like, and that the service runs. Nothing that was accepted is lost.',
    EXIT.noService,
    cause,
  );
}

/** The service is there, but no worker answers for the session. */
export function noWorker(session_id: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'worker.none',
    `Expected a worker to answer for session ${session_id}, found none.`,
    'See `holdfast status`; `holdfast up` starts what is missing, `holdfast worker` one for a shared cluster.',
    EXIT.noService,
    cause,
  );
}

/** An archived session of which this installation has no archive. */
export function archiveMissing(session_id: string): HoldfastError {
  return new HoldfastError(
    'archive.missing',
    `Expected the archive of session ${session_id} in this home, found no segment of it.`,
    "Use the HOLDFAST_HOME of the session's host, or restore its archive folder.",
  );
}
