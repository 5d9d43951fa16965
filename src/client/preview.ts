/** What the next model call would send, made by the worker of the workspace's host. Calls no model. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { hostTaskQueue, SESSION_TASK_QUEUE } from '../domain/ids.ts';
import type { ContextPreview } from '../domain/model.ts';
import { EXIT, HoldfastError, noWorker } from './errors.ts';
import { facts } from './facts.ts';
import { GRPC, grpcCode, grpcDetails } from './grpc.ts';
import type { Service } from './service.ts';

const ACTIVITY = 'previewContext';
/** For servers that run no activity without a workflow (before 1.31): one that does nothing else. */
const WORKFLOW = 'preview';

const WAIT_FOR_WORKER = '20s';
const WORK_TIMEOUT = '60s';
const DEADLINE_MS = 90_000;

/** Rejects with exit code 4 when the host's worker does not take it. */
export async function previewContext(service: Service, session_id: string): Promise<ContextPreview> {
  const { workspace, partial } = await facts(service, session_id);
  if (partial) throw noWorker(session_id);
  try {
    return await service.call(async (client) => preview(client, session_id, workspace.host), {
      deadline_ms: DEADLINE_MS,
    });
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

async function preview(client: Client, session_id: string, host: string): Promise<ContextPreview> {
  const id = `holdfast-preview/${session_id}/${randomUUID()}`;
  try {
    return await client.activity.execute<ContextPreview>(ACTIVITY, {
      id,
      taskQueue: hostTaskQueue(host),
      args: [{ session_id }],
      scheduleToStartTimeout: WAIT_FOR_WORKER,
      startToCloseTimeout: WORK_TIMEOUT,
      retry: { maximumAttempts: 2 },
      summary: `context of ${session_id}`,
    });
  } catch (error) {
    if (grpcCode(error) !== GRPC.unimplemented) throw error;
    return client.workflow.execute<(input: PreviewInput) => Promise<ContextPreview>>(WORKFLOW, {
      workflowId: id,
      taskQueue: SESSION_TASK_QUEUE,
      args: [{ session_id, host }],
      workflowExecutionTimeout: WORK_TIMEOUT,
    });
  }
}

/** Of the workflow `preview`. */
interface PreviewInput {
  session_id: string;
  host: string;
}
