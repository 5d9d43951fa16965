/** What holds a session up: activities that failed and are tried again, which its workflow itself does not know. */
import { workflowId } from '../domain/ids.ts';
import { isNotFound } from './grpc.ts';
import type { Service } from './service.ts';

/** An activity between two tries, or in a later one. */
export interface HeldUp {
  /** Its name in activities/contract.ts. */
  activity: string;
  /** Of the try that comes next, or runs. */
  attempt: number;
  /** Why the last try failed. */
  failure: string;
}

/** Empty where Temporal has forgotten the workflow. Rejects with exit code 4 when the service can't be reached. */
export async function heldUp(service: Service, session_id: string): Promise<HeldUp[]> {
  try {
    const { raw } = await service.call(async (client) =>
      client.workflow.getHandle(workflowId(session_id)).describe(),
    );
    return (raw.pendingActivities ?? []).flatMap(({ activityType, attempt, lastFailure }) => {
      const failure = lastFailure?.message ?? '';
      return failure === '' ? [] : [{ activity: activityType?.name ?? '', attempt: attempt ?? 0, failure }];
    });
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
