/** Whether a server answers, and a wait until it does. */
import { connect } from 'node:net';
import type { Connection } from '@temporalio/client';

const TCP_POLL_MS = 25;
const CALL_TIMEOUT_MS = 2_000;

/**
 * Resolves with a connection, which the caller closes, when the namespace can be described. Rejects with
 * the signal's reason when it is aborted first.
 */
export async function untilServing(
  address: string,
  namespace: string,
  signal: AbortSignal,
): Promise<Connection> {
  const loading = import('@temporalio/client'); // takes as long as the server takes to start
  // A plain TCP connect first: a gRPC channel that was refused once waits a second before it tries again.
  while (!(await accepts(address))) await pause(signal);
  const { Connection } = await loading;
  for (;;) {
    try {
      return await describe(Connection, address, namespace);
    } catch {
      await pause(signal);
    }
  }
}

/** Whether something listens at `address` (host:port). */
async function accepts(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  return await new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), timeout: CALL_TIMEOUT_MS });
    const settle = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('timeout', () => settle(false));
  });
}

async function describe(kind: typeof Connection, address: string, namespace: string): Promise<Connection> {
  const connection = await kind.connect({ address, connectTimeout: CALL_TIMEOUT_MS });
  try {
    await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function pause(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise((resolve) => setTimeout(resolve, TCP_POLL_MS));
  signal.throwIfAborted();
}
