/** The command line and the environment of the embedded Temporal server. */
import { SEARCH_ATTRIBUTES } from '../host/searchAttributes.ts';

/** The embedded server never listens on another address. */
export const SERVER_IP = '127.0.0.1';

/** The namespace of the embedded server. */
export const EMBEDDED_NAMESPACE = 'default';

/** The ports of one home's server. */
export interface Ports {
  grpc: number;
  ui: number;
  http: number;
  metrics: number;
}

/**
 * Server settings that matter here, each tried with CLI 1.5.1 and 1.9.1. Left alone, since raising them
 * changed nothing with 50 sessions at work: frontend.namespaceRPS (2400), frontend.namespaceCount (1200 long
 * polls for each method), limit.numPendingActivities.error (2000 for each workflow), the persistence QPS
 * (2000 to 9000), and a single task queue partition in place of 4.
 */
const DYNAMIC_CONFIG = {
  // Each defaults to 20 a second for the whole server, which holds one session to 24 workflow tasks a second.
  'history.transferProcessorMaxPollRPS': 2000,
  'history.timerProcessorMaxPollRPS': 2000,
  'history.visibilityProcessorMaxPollRPS': 2000,
  // The first activity of a step goes out with the answer to its workflow task: 30 ms a step in place of 45.
  // On by default only in later servers.
  'system.enableActivityEagerExecution': 'true',
  // 100 in start-dev; lists and the lookup of shortened ids by many clients at once would be throttled.
  'frontend.namespaceRPS.visibility': 1000,
} as const;

/** A committed transaction is on the disk before the server answers (synchronous=FULL). */
const SQLITE_PRAGMAS = { journal_mode: 'wal', synchronous: '2' } as const;

/** What the server is given of the environment: what a program needs to run at all, and no secret. */
const SERVER_ENVIRONMENT = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'TZ',
  'LANG',
  'LC_ALL',
  'GOMAXPROCS',
  'GOMEMLIMIT',
  'GOGC',
];

/** Arguments of `temporal` for a server on `ports` that keeps everything in `databaseFile`. */
export function serverArguments(ports: Ports, databaseFile: string): string[] {
  return [
    'server',
    'start-dev',
    // Neither a profile of the user nor TEMPORAL_* variables may change what this server is.
    '--disable-config-file',
    '--disable-config-env',
    '--log-level',
    'error',
    '--log-format',
    'json',
    '--ip',
    SERVER_IP,
    '--db-filename',
    databaseFile,
    '--port',
    String(ports.grpc),
    '--ui-port',
    String(ports.ui),
    '--http-port',
    String(ports.http),
    '--metrics-port',
    String(ports.metrics),
    ...repeated('--dynamic-config-value', DYNAMIC_CONFIG),
    ...repeated('--sqlite-pragma', SQLITE_PRAGMAS),
    ...repeated('--search-attribute', SEARCH_ATTRIBUTES),
  ];
}

/** The few variables that the server is given. An allowlist: keys have too many names to strip them all. */
export function serverEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    SERVER_ENVIRONMENT.flatMap((name) => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Address for workers and clients. */
export function grpcAddress(ports: Ports): string {
  return `${SERVER_IP}:${ports.grpc}`;
}

export function uiUrl(ports: Ports): string {
  return `http://${SERVER_IP}:${ports.ui}`;
}

function repeated(flag: string, values: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${value}`]);
}
