/** Which Temporal service a home's sessions live in: an existing one, or the embedded one. */
import type { ConnectionOptions } from '@temporalio/client';
import type { Home } from '../host/home.ts';
import { EXIT, HoldfastError } from './errors.ts';

/** How a service is reached. */
export interface Endpoint {
  connection: ConnectionOptions & { address: string };
  namespace: string;
  /** Of the Temporal Web UI, where it is known. */
  ui_url: string | null;
  /** Started and repaired by this home's supervisor. */
  embedded: boolean;
}

/** Names that mean: there is a Temporal service already (@temporalio/envconfig reads these and more). */
const EXISTING_SERVICE = ['TEMPORAL_ADDRESS', 'TEMPORAL_PROFILE', 'TEMPORAL_CONFIG_FILE'];

export interface LocateOptions {
  /** Told one line before each step that takes time. */
  onProgress?: (line: string) => void;
  /** False: a server that takes work is enough, and a worker that is on its way up is not waited for. */
  worker?: boolean;
}

/**
 * The endpoint; starts or repairs the embedded service where none is given. Rejects with a HoldfastError of
 * exit code 4 when there is none to be had.
 */
export async function locateEndpoint(
  home: Home,
  env: NodeJS.ProcessEnv,
  options: LocateOptions = {},
): Promise<Endpoint> {
  return usesExistingService(env) ? existingEndpoint(env) : embeddedEndpoint(home, env, options);
}

async function embeddedEndpoint(
  home: Home,
  env: NodeJS.ProcessEnv,
  { onProgress, worker = true }: LocateOptions,
): Promise<Endpoint> {
  const { ensureUp, readRunning } = await import('../server/installation.ts');
  try {
    return endpointOf(
      await ensureUp(home, { env, waitForWorker: worker, ...(onProgress && { onProgress }) }),
    );
  } catch (error) {
    // A worker that does not come up must not keep anybody from reading and sending.
    const server = await readRunning(home, false).catch(() => undefined);
    if (server === undefined) throw embeddedFailed(error);
    onProgress?.(messageOf(error));
    return endpointOf(server);
  }
}

function endpointOf(up: { address: string; namespace: string; ui_url: string }): Endpoint {
  return {
    connection: { address: up.address },
    namespace: up.namespace,
    ui_url: up.ui_url,
    embedded: true,
  };
}

/** Whether the environment names a Temporal service, so that none is started here. */
export function usesExistingService(env: NodeJS.ProcessEnv): boolean {
  return EXISTING_SERVICE.some((name) => (env[name] ?? '') !== '');
}

/** The service that TEMPORAL_ADDRESS and its like name. Rejects with exit code 4 when they are wrong. */
export async function existingEndpoint(env: NodeJS.ProcessEnv): Promise<Endpoint> {
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  const given = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: given });
    const { address = '127.0.0.1:7233', ...rest } = connectionOptions;
    return {
      // The SDK types these as the worker's connection; address, tls, apiKey and metadata are the same.
      connection: { ...(rest as ConnectionOptions), address },
      namespace: namespace ?? 'default',
      ui_url: env['TEMPORAL_UI_URL'] ?? null,
      embedded: false,
    };
  } catch (error) {
    throw new HoldfastError(
      'service.configuration',
      `Expected TEMPORAL_ADDRESS, TEMPORAL_PROFILE and their like to name a service, found: ${messageOf(error)}`,
      'Correct them, or unset them all to use the embedded server.',
      EXIT.noService,
      error,
    );
  }
}

function embeddedFailed(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const remedy =
    error instanceof Error && 'remedy' in error && typeof error.remedy === 'string' ? error.remedy : '';
  return new HoldfastError(
    'service.not_started',
    messageOf(error),
    remedy || '`holdfast doctor` checks what is missing; the logs are in the home.',
    EXIT.noService,
    error,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
