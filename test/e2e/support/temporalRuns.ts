/** The Temporal runs of a session, as a namespace's retention would take them away. */
import { isNotFound } from '../../../src/client/grpc.ts';
import type { Service } from '../../../src/client/service.ts';
import { workflowId } from '../../../src/domain/ids.ts';
import { until } from '../../support/world.ts';

/** Deletes all runs but the newest, or all, and resolves with how many, when Temporal knows them no more. */
export async function forgetRuns(
  service: Service,
  session_id: string,
  which: 'all' | 'all but the newest',
): Promise<number> {
  const runs = await runsOf(service, session_id);
  const forgotten = which === 'all' ? runs : runs.slice(1);
  for (const runId of forgotten) {
    await service.call(async (client) =>
      client.workflowService.deleteWorkflowExecution({
        namespace: service.endpoint.namespace,
        workflowExecution: { workflowId: workflowId(session_id), runId },
      }),
    );
  }
  for (const runId of forgotten) {
    await until(async () => isForgotten(service, session_id, runId));
  }
  return forgotten.length;
}

/** Newest first: each run names the one that it continues. */
async function runsOf(service: Service, session_id: string): Promise<string[]> {
  const { runId } = await service.call(async (client) =>
    client.workflow.getHandle(workflowId(session_id)).describe(),
  );
  const runs: string[] = [];
  for (let run: string | undefined = runId; run; run = await runBefore(service, session_id, run))
    runs.push(run);
  return runs;
}

async function runBefore(service: Service, session_id: string, runId: string): Promise<string | undefined> {
  const { history } = await service.call(async (client) =>
    client.workflowService.getWorkflowExecutionHistory({
      namespace: service.endpoint.namespace,
      execution: { workflowId: workflowId(session_id), runId },
      maximumPageSize: 1,
    }),
  );
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return started?.continuedExecutionRunId ?? undefined;
}

async function isForgotten(service: Service, session_id: string, runId: string): Promise<boolean> {
  try {
    await service.call(async (client) => client.workflow.getHandle(workflowId(session_id), runId).describe());
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}
