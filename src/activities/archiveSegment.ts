/** Writes the events of an ending Temporal run to the archive, before continue-as-new or when a session closes. */
import type { EventOf, SessionEvent } from '../domain/event.ts';
import { reached } from '../host/faults.ts';
import type { ArchivedSegment, ArchiveInput } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import { temporalRun } from './temporalRun.ts';

/**
 * The activity `archiveSegment`. Writing the same segment again gives the same file. What the journal knows
 * of operations whose result is in the archive is needed no more and goes.
 */
export async function archiveSegment(deps: ActivityDeps, input: ArchiveInput): Promise<ArchivedSegment> {
  const { session_id, segment, from_seq, through_seq } = input;
  const { state, events } = await deps.log.at(session_id, through_seq, temporalRun());
  const archived = events.filter(({ seq }) => seq >= from_seq);
  await written(session_id, async () =>
    deps.archive.write({ session_id, segment, from_seq, through_seq, state }, archived),
  );
  await reached('after_archive');
  for (const operation_id of settledOperations(archived)) await deps.journal.forget(session_id, operation_id);
  return { updated_at: state.updated_at };
}

/** Says in the words of the failure what follows from it: it stands in the worker log, the Web UI and `show`. */
async function written(session_id: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    throw new Error(
      `Expected an archive that can be written, found: ${found}. Session ${session_id} waits for it, then goes on by itself.`,
      { cause: error },
    );
  }
}

/** A job's folder holds the output of a process that may still run, so it stays. */
function settledOperations(events: SessionEvent[]): string[] {
  const jobs = new Set(events.filter(isJob).map((event) => event.call_id));
  return events.flatMap((event) => {
    switch (event.type) {
      case 'assistant_message':
      case 'summary_created':
      case 'compaction_failed':
        return [event.operation_id];
      case 'tool_result':
        return jobs.has(event.call_id) ? [] : [event.operation_id];
      default:
        return [];
    }
  });
}

function isJob(event: SessionEvent): event is EventOf<'tool_call'> {
  if (event.type !== 'tool_call') return false;
  const args = event.args as { background?: unknown } | null;
  return args?.background === true;
}
