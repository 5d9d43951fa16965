/** What could keep this installation from working, each finding with its remedy. Starts and changes nothing. */
import type { Connection } from '@temporalio/client';
import type { Home } from '../host/home.ts';
import type { Check, Finding } from './check.ts';
import {
  checkBinary,
  checkDiskSpace,
  checkHome,
  checkJournal,
  checkNode,
  checkSocketPath,
} from './doctorHost.ts';
import { readStatus } from './installation.ts';
import { inspectNamespace, lackingSearchAttributes, MAX_RETENTION_DAYS } from './namespace.ts';
import { EMBEDDED_NAMESPACE } from './serverCommand.ts';

export type { Check };

export interface DoctorOptions {
  env?: NodeJS.ProcessEnv;
  /** An existing Temporal service, in place of the embedded server. */
  service?: { address: string; namespace: string; connect: () => Promise<Connection> };
}

const CONNECT_TIMEOUT_MS = 3_000;
const MODEL_TIMEOUT_MS = 15_000;

/** All checks but the model endpoint's. Never rejects: a check that fails to run is a failed check. */
export async function runDoctor(
  home: Home,
  { env = process.env, service }: DoctorOptions = {},
): Promise<Check[]> {
  const host = [
    guarded('node', async () => checkNode()),
    ...(service === undefined ? [guarded('binary', async () => await checkBinary(env))] : []),
    guarded('home', async () => await checkHome(home)),
    guarded('socket path', async () => checkSocketPath(home)),
    guarded('disk space', async () => await checkDiskSpace(home)),
    guarded('journal', async () => await checkJournal(home)),
  ];
  return [...(await Promise.all(host)), ...(await checkService(home, service))];
}

/** `GET {baseUrl}/models` with the key: whether the model endpoint is there and takes the key. Never rejects. */
export async function checkModelEndpoint(baseUrl: string, apiKey: string | undefined): Promise<Check> {
  const name = 'model endpoint';
  const url = `${baseUrl.replace(/\/+$/, '')}/models`;
  const remedy =
    'Check the base URL (OPENAI_BASE_URL; it usually ends in /v1), and that this machine reaches it.';
  try {
    const response = await fetch(url, {
      headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
      signal: AbortSignal.timeout(MODEL_TIMEOUT_MS),
    });
    await response.body?.cancel();
    const found = `GET ${url}: HTTP ${response.status}`;
    if (response.ok) return { name, ok: true, found };
    return { name, ok: false, found, remedy: isDenied(response.status) ? keyRemedy(apiKey) : remedy };
  } catch (error) {
    return { name, ok: false, found: `GET ${url}: ${text(error)}`, remedy };
  }
}

function isDenied(status: number): boolean {
  return status === 401 || status === 403;
}

function keyRemedy(apiKey: string | undefined): string {
  return `Give a key that this endpoint takes (OPENAI_API_KEY); ${apiKey ? 'the one given was refused' : 'none was given'}.`;
}

async function checkService(home: Home, service: DoctorOptions['service']): Promise<Check[]> {
  const target = service ?? (await embedded(home));
  if ('ok' in target) return [target];
  let connection: Connection;
  try {
    connection = await target.connect();
  } catch (error) {
    const remedy = service ? 'Check TEMPORAL_ADDRESS and the credentials.' : 'Run `holdfast up`.';
    return [{ name: 'server', ok: false, found: `${target.address}: ${text(error)}`, remedy }];
  }
  try {
    return await Promise.all([
      guarded('server', async () => await checkServer(connection, target.address)),
      guarded('namespace retention', async () => await checkRetention(connection, target.namespace)),
      guarded('search attributes', async () => await checkAttributes(connection, target.namespace)),
    ]);
  } finally {
    await connection.close();
  }
}

async function embedded(home: Home): Promise<NonNullable<DoctorOptions['service']> | Check> {
  try {
    const { server } = await readStatus(home);
    if (server === null)
      return { name: 'server', ok: false, found: 'not running', remedy: 'Run `holdfast up`.' };
    const { address } = server;
    return { address, namespace: EMBEDDED_NAMESPACE, connect: async () => await connect(address) };
  } catch (error) {
    return { name: 'server', ok: false, found: text(error), remedy: 'Run `holdfast up`.' };
  }
}

async function connect(address: string): Promise<Connection> {
  const { Connection } = await import('@temporalio/client');
  return await Connection.connect({ address, connectTimeout: CONNECT_TIMEOUT_MS });
}

async function checkServer(connection: Connection, address: string): Promise<Finding> {
  const { serverVersion } = await connection.withDeadline(Date.now() + CONNECT_TIMEOUT_MS, () =>
    connection.workflowService.getSystemInfo({}),
  );
  return { ok: true, found: `version ${serverVersion} at ${address}` };
}

async function checkRetention(connection: Connection, namespace: string): Promise<Finding> {
  const { retention_days } = await inspectNamespace(connection, namespace);
  const found = `${retention_days} days in namespace ${namespace}`;
  if (retention_days >= MAX_RETENTION_DAYS) return { ok: true, found };
  const remedy = `Closed sessions leave the server after that (their archive stays). To keep them: temporal operator namespace update --namespace ${namespace} --retention ${MAX_RETENTION_DAYS}d`;
  return { ok: false, found, remedy };
}

async function checkAttributes(connection: Connection, namespace: string): Promise<Finding> {
  const { missing, mistyped } = await lackingSearchAttributes(connection, namespace);
  if (missing.length === 0 && mistyped.length === 0)
    return { ok: true, found: `all in namespace ${namespace}` };
  return {
    ok: false,
    found: `missing: ${missing.join(', ') || 'none'}; of another type: ${mistyped.join(', ') || 'none'}`,
    remedy: `Start a worker of Holdfast with the right to add them, or: temporal operator search-attribute create --namespace ${namespace} --name NAME --type TYPE`,
  };
}

async function guarded(name: string, check: () => Promise<Finding>): Promise<Check> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    return { name, ok: false, found: text(error), remedy: REMEDIES[name] ?? 'See the message.' };
  }
}

const REMEDIES: Partial<Record<string, string>> = {
  'namespace retention': 'Check that the namespace exists and may be read.',
  'search attributes': 'Check that the namespace exists and that its search attributes may be listed.',
  server: 'Run `holdfast up`.',
};

/** One line; `fetch` hides what happened (ECONNREFUSED …) in the cause. */
function text(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
