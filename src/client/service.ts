/** A connection to the Temporal service of a home: the only way from a client to a session. */
import { Client, Connection } from '@temporalio/client';
import { fileArchive, type ArchiveStore } from '../archive/segments.ts';
import type { Home } from '../host/home.ts';
import { locateEndpoint, type Endpoint, type LocateOptions } from './endpoint.ts';
import { serviceUnreachable } from './errors.ts';
import { GRPC, grpcCode, grpcDetails, isUnavailable, isUnreachable } from './grpc.ts';
import { InstallationWatch } from './installationWatch.ts';
import { retrying } from './retry.ts';

/** For one call. */
const CALL_DEADLINE_MS = 10_000;
/** For a call with its retries: a server that is killed is up again in about two seconds. */
const CALL_BUDGET_MS = 10_000;
/** SDK 1.24 sets a wrong name for this option, and gRPC's own default of 4 MiB refuses long histories. */
const MAX_RECEIVED_MESSAGE_BYTES = 128 * 1024 * 1024;

export interface CallOptions {
  deadline_ms?: number;
  /** For retries while the service can't be reached; 0 for none. */
  budget_ms?: number;
  signal?: AbortSignal | undefined;
}

/** An open connection. Close it when done, or the process does not end. */
export interface Service {
  readonly home: Home;
  readonly archive: ArchiveStore;
  readonly endpoint: Endpoint;
  /** One call with a deadline, tried again while the service can't be reached. Rejects with exit code 4 then. */
  call: <T>(work: (client: Client) => Promise<T>, options?: CallOptions) => Promise<T>;
  /**
   * Finds the service again, and repairs an embedded one that has crashed; one that was taken down on purpose
   * (it leaves no state file) is left alone. Never rejects.
   */
  refresh: () => Promise<void>;
  close: () => Promise<void>;
}

/**
 * Connects to the service of `home`: the one that TEMPORAL_ADDRESS and its like name, else the embedded one,
 * which is started or repaired when it does not run. Rejects with a HoldfastError of exit code 4.
 */
export async function connect(
  home: Home,
  env: NodeJS.ProcessEnv = process.env,
  options: LocateOptions = {},
): Promise<Service> {
  return new TemporalService(home, env, await locateEndpoint(home, env, options));
}

class TemporalService implements Service {
  readonly home: Home;
  readonly archive: ArchiveStore;
  endpoint: Endpoint;
  readonly #env: NodeJS.ProcessEnv;
  readonly #watch: InstallationWatch;
  #connection: Connection;
  #client: Client;

  constructor(home: Home, env: NodeJS.ProcessEnv, endpoint: Endpoint) {
    this.home = home;
    this.archive = fileArchive(home.archive);
    this.#env = env;
    this.#watch = new InstallationWatch(home);
    this.endpoint = endpoint;
    this.#connection = open(endpoint);
    this.#client = new Client({ connection: this.#connection, namespace: endpoint.namespace });
  }

  async call<T>(work: (client: Client) => Promise<T>, options: CallOptions = {}): Promise<T> {
    const { deadline_ms = CALL_DEADLINE_MS, budget_ms = CALL_BUDGET_MS, signal } = options;
    try {
      return await retrying(() => this.#once(work, deadline_ms, signal), {
        budget_ms,
        isRetryable: isUnavailable,
        signal,
      });
    } catch (error) {
      throw this.#explain(error);
    }
  }

  async refresh(): Promise<void> {
    if (!this.endpoint.embedded) return;
    try {
      if (await this.#watch.needsRepair()) {
        await this.#moveTo(await locateEndpoint(this.home, this.#env, { worker: false }));
      }
    } catch {
      // What can't be found now is looked for again by the caller's next try.
    }
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #moveTo(found: Endpoint): Promise<void> {
    if (found.connection.address === this.endpoint.connection.address) return;
    const old = this.#connection;
    this.endpoint = found;
    this.#connection = open(found);
    this.#client = new Client({ connection: this.#connection, namespace: found.namespace });
    await old.close();
  }

  async #once<T>(
    work: (client: Client) => Promise<T>,
    deadline_ms: number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const connection = this.#connection;
    const call = async (): Promise<T> =>
      connection.withDeadline(Date.now() + deadline_ms, async () => work(this.#client));
    if (signal === undefined) return call();
    // The SDK leaves its listener on the signal it is given, so each call gets its own.
    const own = new AbortController();
    const abort = (): void => own.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await connection.withAbortSignal(own.signal, call);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  #explain(error: unknown): unknown {
    const code = grpcCode(error);
    const { embedded, connection } = this.endpoint;
    const place = { address: connection.address, embedded };
    if (isUnreachable(error)) return serviceUnreachable(place, 'nothing that answers', error);
    if (code === GRPC.unimplemented) return serviceUnreachable(place, 'something else', error);
    if (code === GRPC.unauthenticated || code === GRPC.permissionDenied) {
      return serviceUnreachable(place, `one that refuses: ${grpcDetails(error)}`, error);
    }
    return error;
  }
}

function open(endpoint: Endpoint): Connection {
  return Connection.lazy({
    ...endpoint.connection,
    // Without the SDK's own retries, which go on to the deadline and then hide what was wrong.
    interceptors: [],
    channelArgs: {
      'grpc.max_receive_message_length': MAX_RECEIVED_MESSAGE_BYTES,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.min_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 1_000,
    },
  });
}
