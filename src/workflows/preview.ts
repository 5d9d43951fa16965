/**
 * The workflow `preview`: `previewContext` for clients of servers that run no activity without a workflow
 * (before 1.31). It does nothing else.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { HostActivities } from '../activities/contract.ts';
import { hostTaskQueue } from '../domain/ids.ts';

/** What the next model call of the session would send. */
export async function preview(input: {
  session_id: string;
  host: string;
}): ReturnType<HostActivities['previewContext']> {
  const { previewContext } = proxyActivities<HostActivities>({
    taskQueue: hostTaskQueue(input.host),
    startToCloseTimeout: '1m',
    retry: { maximumAttempts: 2 },
  });
  return previewContext({ session_id: input.session_id });
}
