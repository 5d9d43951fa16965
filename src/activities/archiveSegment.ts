/** Writes the events of an ending Temporal run to the archive, before continue-as-new or when a session closes. */
import type { ArchiveInput } from './contract.ts';
import type { ActivityDeps } from './deps.ts';

/** The activity `archiveSegment`. Writing the same segment again gives the same file. */
export async function archiveSegment(deps: ActivityDeps, input: ArchiveInput): Promise<void> {
  const { session_id, segment, from_seq, through_seq } = input;
  const { state, events } = await deps.log.at(session_id, through_seq);
  await deps.archive.write({ session_id, segment, from_seq, through_seq, state }, events.slice(from_seq - 1));
}
