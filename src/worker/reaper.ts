/**
 * Finds what a dead worker of this host left behind and hands it on at once, instead of after a time-out.
 * For each session: stickiness is reset first, then its dead activities are failed. In the other order the
 * workflow task of the failure waits for the dead worker's sticky queue.
 */
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { SESSION_WORKFLOW } from '../workflows/contract.ts';
import { isDeadWorkerOf } from './identity.ts';

const AT_ONCE = 16;

/** PendingActivityState of temporal.api.enums.v1 (workflow.proto). */
const STARTED = 2;

/** Sessions with a run come first; idle ones only need their stickiness reset. */
export async function reap(client: Client, host: string, log: Logger): Promise<void> {
  const busy: Found[] = [];
  const idle: Found[] = [];
  const query = `WorkflowType = '${SESSION_WORKFLOW}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId, runId, searchAttributes } of client.workflow.list({ query })) {
    const state = searchAttributes['HoldfastRunState']?.[0];
    const sessionHost = searchAttributes['HoldfastHost']?.[0];
    if (sessionHost !== undefined && sessionHost !== host) continue;
    (state === 'running' || state === undefined ? busy : idle).push({ workflowId, runId });
  }
  await inParallel(busy, async (session) => reapSession(client, host, log, session));
  await inParallel(idle, async (session) => resetStickiness(client, session));
}

interface Found {
  workflowId: string;
  runId: string;
}

async function reapSession(client: Client, host: string, log: Logger, session: Found): Promise<void> {
  const { workflowId, runId } = session;
  await resetStickiness(client, session);
  const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
  for (const activity of raw.pendingActivities ?? []) {
    const { activityId, state, lastWorkerIdentity } = activity;
    if (Number(state) !== STARTED || activityId == null || lastWorkerIdentity == null) continue;
    if (!(await isDeadWorkerOf(host, lastWorkerIdentity))) continue;
    log.info({ workflowId, activityId, lost: lastWorkerIdentity }, 'handing on what a dead worker left');
    await failActivity(client, { workflowId, runId, activityId });
  }
}

async function failActivity(client: Client, activity: Found & { activityId: string }): Promise<void> {
  const lost = ApplicationFailure.create({
    type: 'worker.lost',
    message: 'The worker was lost while it did this.',
    // Where another attempt is allowed, it may begin now.
    nextRetryDelay: 1,
  });
  await client.activity.fail(activity, lost).catch((error: unknown) => {
    // Its result, or its time-out, was faster.
    if (!(error instanceof Error && error.name === 'ActivityNotFoundError')) throw error;
  });
}

async function resetStickiness(client: Client, { workflowId, runId }: Found): Promise<void> {
  await client.workflowService.resetStickyTaskQueue({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
  });
}

async function inParallel<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}
