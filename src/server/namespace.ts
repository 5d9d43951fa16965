/**
 * What a namespace must have before sessions can live in it: a retention that deletes nothing, and the
 * search attributes. Works on the embedded server and on a shared cluster.
 */
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SEARCH_ATTRIBUTES, type SearchAttributeName } from '../host/searchAttributes.ts';

/**
 * 100 years, the most that a server takes: it caps whatever is longer to 876000 h (`ValidateAndCapProtoDuration`
 * in temporalio/temporal; seen with 1.29 and 1.32).
 */
export const MAX_RETENTION_DAYS = 36_500;

/** temporal.api.enums.v1.IndexedValueType. */
const INDEXED_VALUE_TYPES = { Keyword: 2, Int: 3, Datetime: 6 } as const;
/** grpc status codes (https://grpc.io/docs/guides/status-codes/). */
const GRPC_INVALID_ARGUMENT = 3;
const GRPC_ALREADY_EXISTS = 6;

const CALL_TIMEOUT_MS = 10_000;
/** A new attribute is usable when the frontend has read its namespaces again, which it does every few seconds. */
const ATTRIBUTES_TIMEOUT_MS = 30_000;
const ATTRIBUTES_POLL_MS = 100;
const SECONDS_PER_DAY = 86_400;
const MS_PER_DAY = SECONDS_PER_DAY * 1000;

/** What the namespace has now. Sessions can run only if `problems` is empty. */
export interface NamespaceReport {
  namespace: string;
  retention_days: number;
  /** Search attributes that this call has added. */
  added: string[];
  /** Each names what was expected, what was found, and what to do. */
  problems: string[];
}

export interface PrepareOptions {
  /** The retention is raised to this, never lowered. */
  retentionDays?: number;
}

/**
 * Raises the retention and adds the search attributes that are missing; waits until they can be used. Where
 * the caller is not permitted to, that is in `problems`. Rejects when the namespace cannot even be described.
 */
export async function prepareNamespace(
  connection: Connection,
  namespace: string,
  { retentionDays = MAX_RETENTION_DAYS }: PrepareOptions = {},
): Promise<NamespaceReport> {
  const report: NamespaceReport = {
    ...(await inspectNamespace(connection, namespace)),
    added: [],
    problems: [],
  };
  if (report.retention_days < retentionDays) await raiseRetention(connection, report, retentionDays);
  await addSearchAttributes(connection, report);
  return report;
}

/** The retention and the search attributes as they are; changes nothing. */
export async function inspectNamespace(
  connection: Connection,
  namespace: string,
): Promise<{ namespace: string; retention_days: number }> {
  const described = await within(connection, () =>
    connection.workflowService.describeNamespace({ namespace }),
  );
  const seconds = Number(described.config?.workflowExecutionRetentionTtl?.seconds ?? 0);
  return { namespace, retention_days: Math.floor(seconds / SECONDS_PER_DAY) };
}

/** Names and types that the namespace lacks, or has with another type. */
export async function lackingSearchAttributes(
  connection: Connection,
  namespace: string,
): Promise<{ missing: SearchAttributeName[]; mistyped: SearchAttributeName[] }> {
  const { customAttributes } = await within(connection, () =>
    connection.operatorService.listSearchAttributes({ namespace }),
  );
  const has: Record<string, unknown> = customAttributes ?? {};
  const names = Object.keys(SEARCH_ATTRIBUTES) as SearchAttributeName[];
  return {
    missing: names.filter((name) => has[name] === undefined),
    mistyped: names.filter((name) => has[name] !== undefined && has[name] !== valueTypeOf(name)),
  };
}

async function raiseRetention(connection: Connection, report: NamespaceReport, days: number): Promise<void> {
  const { namespace } = report;
  try {
    await within(connection, () =>
      connection.workflowService.updateNamespace({
        namespace,
        config: { workflowExecutionRetentionTtl: msToTs(days * MS_PER_DAY) },
      }),
    );
    report.retention_days = (await inspectNamespace(connection, namespace)).retention_days;
  } catch (error) {
    report.problems.push(
      `Expected a retention of ${days} days in namespace ${namespace}, found ${report.retention_days}, and raising it failed: ${text(error)}. Let an operator run: temporal operator namespace update --namespace ${namespace} --retention ${days}d`,
    );
  }
}

async function addSearchAttributes(connection: Connection, report: NamespaceReport): Promise<void> {
  const { namespace } = report;
  try {
    const { missing, mistyped } = await lackingSearchAttributes(connection, namespace);
    report.problems.push(...mistyped.map((name) => mistypedProblem(namespace, name)));
    for (const name of missing) {
      if (await addOne(connection, namespace, name)) report.added.push(name);
    }
    if (missing.length > 0) await untilUsable(connection, namespace, missing);
  } catch (error) {
    report.problems.push(
      `Expected search attributes ${Object.keys(SEARCH_ATTRIBUTES).join(', ')} in namespace ${namespace}, and checking or adding them failed: ${text(error)}. Let an operator run: ${commands(namespace)}`,
    );
  }
}

/** False when somebody else added it at the same moment. */
async function addOne(
  connection: Connection,
  namespace: string,
  name: SearchAttributeName,
): Promise<boolean> {
  try {
    const searchAttributes = { [name]: valueTypeOf(name) };
    await within(connection, () =>
      connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
    );
    return true;
  } catch (error) {
    if (codeOf(error) === GRPC_ALREADY_EXISTS) return false;
    throw error;
  }
}

async function untilUsable(connection: Connection, namespace: string, names: string[]): Promise<void> {
  const query = names.map((name) => `${name} IS NULL`).join(' AND ');
  const deadline = Date.now() + ATTRIBUTES_TIMEOUT_MS;
  for (;;) {
    try {
      await within(connection, () =>
        connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1 }),
      );
      return;
    } catch (error) {
      if (codeOf(error) !== GRPC_INVALID_ARGUMENT || Date.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, ATTRIBUTES_POLL_MS));
  }
}

async function within<T>(connection: Connection, call: () => Promise<T>): Promise<T> {
  return await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);
}

function valueTypeOf(name: SearchAttributeName): number {
  return INDEXED_VALUE_TYPES[SEARCH_ATTRIBUTES[name]];
}

function mistypedProblem(namespace: string, name: SearchAttributeName): string {
  const type = SEARCH_ATTRIBUTES[name];
  return `Expected search attribute ${name} of type ${type} in namespace ${namespace}, found another type. Remove it there (temporal operator search-attribute remove --namespace ${namespace} --name ${name}), or use another namespace.`;
}

function commands(namespace: string): string {
  return Object.entries(SEARCH_ATTRIBUTES)
    .map(
      ([name, type]) =>
        `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type ${type}`,
    )
    .join('; ');
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
