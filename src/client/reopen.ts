/** An archived session under its old id: a new workflow that begins with the archive's last state. */
import { upgradeState } from '../domain/upgrade.ts';
import { SESSION_TASK_QUEUE, workflowId } from '../domain/ids.ts';
import { SESSION_WORKFLOW, type SessionInput, type SessionSignals } from '../workflows/contract.ts';
import { archiveMissing } from './errors.ts';
import type { Service } from './service.ts';

/**
 * Starts the session's workflow from the archive together with a signal; one that somebody else has opened
 * meanwhile only gets the signal. Rejects with `archive.missing` where this home has no archive of it.
 */
export async function reopenArchived(
  service: Service,
  session_id: string,
  signal: keyof SessionSignals,
  signalArgs: unknown[],
): Promise<void> {
  const last = await service.archive.last(session_id);
  if (last === undefined) throw archiveMissing(session_id);
  const input: SessionInput = {
    kind: 'reopened',
    state: upgradeState(last.state),
    segment: last.segment + 1,
  };
  await service.call(async (client) =>
    client.workflow.signalWithStart(SESSION_WORKFLOW, {
      workflowId: workflowId(session_id),
      taskQueue: SESSION_TASK_QUEUE,
      args: [input],
      signal,
      signalArgs,
      staticSummary: last.state.title,
    }),
  );
}
