/** What the next model call would send, made by the worker of the workspace's host. Calls no model. */
import { randomUUID } from 'node:crypto';
import { hostTaskQueue } from '../domain/ids.ts';
import type { ContextPreview } from '../workflows/contract.ts';
import { EXIT, HoldfastError } from './errors.ts';
import { facts } from './facts.ts';
import { grpcDetails } from './grpc.ts';
import type { Service } from './service.ts';

const WAIT_FOR_WORKER = '20s';
const WORK_TIMEOUT = '60s';
const DEADLINE_MS = 90_000;

/** Rejects with exit code 4 when the host's worker does not take it. */
export async function previewContext(service: Service, session_id: string): Promise<ContextPreview> {
  const { workspace } = await facts(service, session_id);
  try {
    return await service.call(
      async (client) =>
        client.activity.execute<ContextPreview>('previewContext', {
          id: `holdfast-preview/${session_id}/${randomUUID()}`,
          taskQueue: hostTaskQueue(workspace.host),
          args: [{ session_id }],
          scheduleToStartTimeout: WAIT_FOR_WORKER,
          startToCloseTimeout: WORK_TIMEOUT,
          retry: { maximumAttempts: 2 },
          summary: `context of ${session_id}`,
        }),
      { deadline_ms: DEADLINE_MS },
    );
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new HoldfastError(
      'context.unavailable',
      `Expected the worker of host ${workspace.host} to build the context of ${session_id}, found: ${grpcDetails(cause)}`,
      'See `holdfast status` on that host, and the worker log.',
      EXIT.noService,
      error,
    );
  }
}
