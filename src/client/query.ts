/** Asking a session's workflow. A query needs a worker, which may be on its way up. */
import { workflowId } from '../domain/ids.ts';
import type { SessionFacts } from '../domain/facts.ts';
import type { EventPage, PageQuery, QUERIES } from '../workflows/contract.ts';
import { HoldfastError, noWorker, sessionNotFound } from './errors.ts';
import { isNotFound, isUnanswered } from './grpc.ts';
import { retrying } from './retry.ts';
import type { Service } from './service.ts';

/** The questions and their answers. */
interface Queries {
  [QUERIES.facts]: { args: []; answer: SessionFacts };
  [QUERIES.events]: { args: [PageQuery]; answer: EventPage };
}

export interface AskOptions {
  /** How long an answer may take, all tries together. */
  patience_ms?: number;
  signal?: AbortSignal | undefined;
}

/** A worker that was killed is up again after about two seconds; one query may last for ten on a dead one. */
const PATIENCE_MS = 20_000;
const TRY_MS = 10_000;

/**
 * The answer. Rejects with `session.not_found` when Temporal knows no such workflow, and with exit code 4
 * when the service can't be reached (`service.unreachable`) or no worker answers (`worker.none`).
 */
export async function ask<Name extends keyof Queries>(
  service: Service,
  session_id: string,
  name: Name,
  args: Queries[Name]['args'],
  { patience_ms = PATIENCE_MS, signal }: AskOptions = {},
): Promise<Queries[Name]['answer']> {
  try {
    return await retrying(
      () => askOnce(service, session_id, name, args, Math.min(TRY_MS, patience_ms), signal),
      {
        budget_ms: patience_ms,
        isRetryable: isUnanswered,
        signal,
      },
    );
  } catch (error) {
    if (isNotFound(error)) throw sessionNotFound(session_id);
    if (!(error instanceof HoldfastError) && isUnanswered(error)) throw noWorker(session_id, error);
    throw error;
  }
}

async function askOnce<Name extends keyof Queries>(
  service: Service,
  session_id: string,
  name: Name,
  args: Queries[Name]['args'],
  deadline_ms: number,
  signal: AbortSignal | undefined,
): Promise<Queries[Name]['answer']> {
  return service.call(
    async (client) =>
      client.workflow
        .getHandle(workflowId(session_id))
        .query<Queries[Name]['answer'], Queries[Name]['args']>(name, ...args),
    { deadline_ms, budget_ms: 0, signal },
  );
}
