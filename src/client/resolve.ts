/** From what a user types to one session's id. */
import { isSessionId, workflowId } from '../domain/ids.ts';
import { ambiguousId, sessionNotFound } from './errors.ts';
import { isNotFound } from './grpc.ts';
import { listSessions } from './list.ts';
import type { Service } from './service.ts';

const MATCHES_SHOWN = 10;

/**
 * The id that `text` is or begins, archived sessions included. Rejects with `session.not_found` or, with
 * the matches, `session.ambiguous`. A whole id is asked for directly: visibility learns of a session late.
 */
export async function resolveId(service: Service, text: string): Promise<string> {
  const wanted = text.trim();
  if (isSessionId(wanted)) {
    if (await isKnown(service, wanted)) return wanted;
    throw sessionNotFound(text);
  }
  if (!/^[a-z0-9]{1,11}$/.test(wanted)) throw sessionNotFound(text);
  const matches = await listSessions(service, { prefix: wanted, status: 'all', limit: MATCHES_SHOWN });
  const [only] = matches;
  if (only === undefined) throw sessionNotFound(text);
  if (matches.length > 1)
    throw ambiguousId(
      wanted,
      matches.map(({ session_id }) => session_id),
    );
  return only.session_id;
}

/** Whether Temporal, or else the archive of this home, knows the session. */
export async function isKnown(service: Service, session_id: string): Promise<boolean> {
  try {
    await service.call(async (client) => client.workflow.getHandle(workflowId(session_id)).describe());
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return service.archive.has(session_id);
  }
}
