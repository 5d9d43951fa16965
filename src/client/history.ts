/**
 * Wake-ups from Temporal: a long-poll of the session's history. It says that something happened, never
 * what; whoever wakes asks the workflow.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowService } from '@temporalio/client';
import { workflowId } from '../domain/ids.ts';
import { isNotFound } from './grpc.ts';
import { pauseAfter } from './retry.ts';
import type { Service } from './service.ts';
import type { Wake } from './wake.ts';

/** The server answers a long-poll after 20 s at the latest. */
const POLL_DEADLINE_MS = 45_000;

/** temporal.api.enums.v1.EventType. A session's state changes in workflow tasks alone: their ends are heard. */
const TASK_COMPLETED = 7;
const CONTINUED_AS_NEW = 28;
/** Completed, failed, timed out, cancelled, terminated. */
const CLOSED = new Set([2, 3, 4, 21, 27]);

export interface HistoryWatch {
  wake: Wake;
  /** Told when the service stops answering, and when it answers again. */
  onService: (reachable: boolean) => void;
  signal: AbortSignal;
}

/** Resolves when the session's workflow has closed, or is unknown to Temporal; rejects only when aborted. */
export async function watchHistory(service: Service, session_id: string, watch: HistoryWatch): Promise<void> {
  const cursor: Cursor = { runId: null, token: null };
  for (let failures = 0; ; ) {
    try {
      const found = await poll(service, session_id, cursor, watch);
      if (found === 'closed') return;
      if (failures > 1) watch.onService(true);
      failures = 0;
      if (found === 'again') await delay(pauseAfter(3), undefined, { signal: watch.signal });
    } catch (error) {
      watch.signal.throwIfAborted();
      if (isNotFound(error)) return;
      failures += 1;
      if (failures === 2) watch.onService(false);
      // A server that was restarted may have forgotten the token; the history is read again from its start.
      cursor.token = null;
      await delay(pauseAfter(failures), undefined, { signal: watch.signal });
      await service.refresh();
    }
  }
}

interface Cursor {
  runId: string | null;
  token: Uint8Array | null;
}

async function poll(
  service: Service,
  session_id: string,
  cursor: Cursor,
  { wake, signal }: HistoryWatch,
): Promise<'open' | 'closed' | 'again'> {
  const { history, nextPageToken } = await readHistory(service, session_id, cursor, signal);
  const events = history?.events ?? [];
  cursor.token = nextPageToken?.length ? nextPageToken : null;
  if (events.some(({ eventType }) => Number(eventType) === TASK_COMPLETED)) wake.now();
  return placeCursor(cursor, events.at(-1));
}

/** Goes on with the next Temporal run when the last event says so. */
function placeCursor(cursor: Cursor, last: HistoryEvent | undefined): 'open' | 'closed' | 'again' {
  const type = Number(last?.eventType);
  if (CLOSED.has(type)) return 'closed';
  if (type === CONTINUED_AS_NEW) {
    cursor.runId = last?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? null;
    cursor.token = null;
    return 'open';
  }
  // Without a token the next poll would answer at once with all of the history.
  return cursor.token === null ? 'again' : 'open';
}

type HistoryReply = Awaited<ReturnType<WorkflowService['getWorkflowExecutionHistory']>>;
type HistoryEvent = NonNullable<NonNullable<HistoryReply['history']>['events']>[number];

async function readHistory(
  service: Service,
  session_id: string,
  { runId, token }: Cursor,
  signal: AbortSignal,
): Promise<HistoryReply> {
  return service.call(
    async (client) =>
      client.workflowService.getWorkflowExecutionHistory({
        namespace: service.endpoint.namespace,
        execution: { workflowId: workflowId(session_id), ...(runId && { runId }) },
        waitNewEvent: true,
        ...(token && { nextPageToken: token }),
      }),
    { deadline_ms: POLL_DEADLINE_MS, budget_ms: 0, signal },
  );
}
