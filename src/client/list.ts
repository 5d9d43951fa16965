/** Lists of sessions, from visibility alone: no workflow is asked, so thousands take less than a second. */
import type { SessionStatus } from '../domain/session.ts';
import { SESSION_WORKFLOW } from '../workflows/contract.ts';
import { attributesOfExecution } from './attributes.ts';
import type { Service } from './service.ts';

/** One line of `holdfast sessions --json`; fields are added, never renamed. */
export interface ListedSession {
  session_id: string;
  title: string;
  status: string;
  run_state: string;
  user_id: string;
  workspace: string;
  host: string;
  runs: number;
  uncertain: number;
  created_at: string;
  updated_at: string;
}

export interface ListOptions {
  /** Absent: active and completed ones. */
  status?: SessionStatus | 'all';
  /** Only this user's. */
  user_id?: string;
  /** Only those whose id begins with this. */
  prefix?: string;
  /** Stop after this many; the newest by start come first. */
  limit?: number;
}

/** temporal.api.enums.v1.WorkflowExecutionStatus; written out, since the enum would cost an import. */
const RUNNING = 1;
/** The most that a server gives at once. */
const PAGE_SIZE = 1_000;
const ID_PREFIX = 'holdfast/';

/** The sessions, newest first by creation. With a limit, those that were started or rolled over last. */
export async function listSessions(service: Service, options: ListOptions = {}): Promise<ListedSession[]> {
  const query = queryOf(options);
  const newest = new Map<string, Found>();
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await service.call(async (client) =>
      client.workflowService.listWorkflowExecutions({
        namespace: service.endpoint.namespace,
        query,
        pageSize: pageSizeOf(options),
        ...(nextPageToken && { nextPageToken }),
      }),
    );
    for (const execution of page.executions ?? []) keepNewest(newest, read(execution));
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken !== undefined && wanted(newest, options).length < (options.limit ?? Infinity));
  return wanted(newest, options)
    .toSorted((a, b) => compare(b.created_at, a.created_at))
    .slice(0, options.limit);
}

interface Found {
  /** Seconds since the epoch, of the Temporal run. */
  started: number;
  session: ListedSession;
}

type Execution = NonNullable<
  Awaited<ReturnType<import('@temporalio/client').WorkflowService['listWorkflowExecutions']>>['executions']
>[number];

/**
 * An open session has one running workflow. An archived one has closed ones alone, and one that was opened
 * again has both, which only the whole list can tell apart.
 */
function queryOf({ status, user_id, prefix }: ListOptions): string {
  const open = status === undefined || status === 'active' || status === 'completed';
  const clauses = [
    `WorkflowType = '${SESSION_WORKFLOW}'`,
    open ? "ExecutionStatus = 'Running'" : "ExecutionStatus != 'ContinuedAsNew'",
    `WorkflowId STARTS_WITH '${ID_PREFIX}${escape(prefix ?? '')}'`,
  ];
  if (status === 'active' || status === 'completed') clauses.push(`HoldfastStatus = '${status}'`);
  if (user_id !== undefined) clauses.push(`HoldfastUser = '${escape(user_id)}'`);
  return clauses.join(' AND ');
}

function read(execution: Execution): Found {
  const seen = attributesOfExecution(execution.searchAttributes?.indexedFields);
  const closed = Number(execution.status) !== RUNNING;
  return {
    started: Number(execution.startTime?.seconds ?? 0) + (execution.startTime?.nanos ?? 0) / 1e9,
    session: {
      session_id: (execution.execution?.workflowId ?? '').slice(ID_PREFIX.length),
      title: seen.title,
      status: closed ? 'archived' : seen.status,
      run_state: seen.run_state,
      user_id: seen.user,
      workspace: seen.workspace,
      host: seen.host,
      runs: seen.runs,
      uncertain: seen.uncertain,
      created_at: seen.created_at,
      updated_at: seen.updated_at,
    },
  };
}

function keepNewest(newest: Map<string, Found>, found: Found): void {
  const id = found.session.session_id;
  const known = newest.get(id);
  if (known === undefined || known.started < found.started) newest.set(id, found);
}

function wanted(newest: Map<string, Found>, { status }: ListOptions): ListedSession[] {
  const sessions = [...newest.values()].map(({ session }) => session);
  // The others were asked for by the query.
  return status === 'archived' ? sessions.filter((session) => session.status === 'archived') : sessions;
}

/** A short list asks for little more than it shows. */
function pageSizeOf({ status, limit }: ListOptions): number {
  const whole = limit === undefined || status === 'archived';
  return whole ? PAGE_SIZE : Math.min(PAGE_SIZE, limit);
}

function escape(text: string): string {
  return text.replaceAll(/['\\]/g, String.raw`\$&`);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
