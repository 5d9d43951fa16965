/** A session's events as one sequence: the archive's, then the workflow's, each seq once. */
import { DamagedSegment } from '../archive/manifest.ts';
import { isSessionId, workflowId } from '../domain/ids.ts';
import type { SessionEvent } from '../domain/event.ts';
import { PAGE_MAX_BYTES } from '../domain/limits.ts';
import { QUERIES } from '../workflows/contract.ts';
import { EXIT, HoldfastError, sessionNotFound } from './errors.ts';
import { ask, type AskOptions } from './query.ts';
import type { Service } from './service.ts';

/**
 * The events from `from` to the newest, in order. Rejects with `session.not_found`; with exit code 4 when
 * nobody can be asked for what the archive does not hold; with DamagedSegment for a broken segment.
 */
export async function* readEvents(
  service: Service,
  session_id: string,
  from = 1,
  options: AskOptions = {},
): AsyncGenerator<SessionEvent> {
  if (!isSessionId(session_id)) throw sessionNotFound(session_id);
  let after = Math.max(0, from - 1);
  for (;;) {
    const page = await pageAfter(service, session_id, after, options);
    if (page.archived_through_seq > after) {
      yield* archived(service, session_id, after, page.archived_through_seq);
      after = page.archived_through_seq;
    }
    for (const event of page.events) {
      if (event.seq <= after) continue;
      yield event;
      after = event.seq;
    }
    if (after >= page.last_seq) return;
  }
}

interface Page {
  events: SessionEvent[];
  last_seq: number;
  archived_through_seq: number;
}

async function pageAfter(
  service: Service,
  session_id: string,
  after_seq: number,
  options: AskOptions,
): Promise<Page> {
  try {
    const query = { after_seq, max_bytes: PAGE_MAX_BYTES };
    return await ask(service, session_id, QUERIES.events, [query], options);
  } catch (error) {
    const last_seq = await lastArchived(service, session_id, error);
    if (last_seq === undefined) throw error;
    return { events: [], last_seq, archived_through_seq: last_seq };
  }
}

/** The newest seq of the archive, where Temporal has forgotten the workflow, or it is closed and nobody can replay it. */
async function lastArchived(
  service: Service,
  session_id: string,
  error: unknown,
): Promise<number | undefined> {
  if (!(error instanceof HoldfastError)) return undefined;
  const forgotten = error.code === 'session.not_found';
  const closed = error.code === 'worker.none' && (await isClosed(service, session_id));
  if (!forgotten && !closed) return undefined;
  try {
    return (await service.archive.last(session_id))?.through_seq;
  } catch (damage) {
    if (!(damage instanceof DamagedSegment)) throw damage;
    // How far it went is not known. Whoever reads on gets all before it, and is told there.
    return Number.MAX_SAFE_INTEGER;
  }
}

async function isClosed(service: Service, session_id: string): Promise<boolean> {
  const { status } = await service.call(async (client) =>
    client.workflow.getHandle(workflowId(session_id)).describe(),
  );
  return status.name === 'COMPLETED';
}

/** The archive's events after one seq through another, a segment at a time. */
async function* archived(
  service: Service,
  session_id: string,
  after: number,
  through: number,
): AsyncGenerator<SessionEvent> {
  let at = after;
  for await (const manifest of service.archive.from(session_id, after + 1)) {
    if (manifest.from_seq > at + 1) throw archiveGap(session_id, at + 1, manifest.from_seq - 1);
    for (const event of await service.archive.read(manifest, at + 1)) {
      if (event.seq > through) break;
      yield event;
      at = event.seq;
    }
    if (at >= through) return;
  }
  throw archiveGap(session_id, at + 1, through);
}

function archiveGap(session_id: string, from: number, through: number): HoldfastError {
  return new HoldfastError(
    'archive.gap',
    `Expected events ${from} to ${through} of session ${session_id} in this home's archive, found none.`,
    `Ask from the session's host, or with its HOLDFAST_HOME; \`--from ${through + 1}\` skips what is missing.`,
    EXIT.usage,
  );
}
