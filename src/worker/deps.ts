/** Makes what activities need from a home, a connection and the bus. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { BlobStore } from '../activities/journal/blobs.ts';
import { Journal } from '../activities/journal/operation.ts';
import type { ActivityDeps } from '../activities/deps.ts';
import { SessionLog } from '../activities/log/sessionLog.ts';
import type { AnsweredPage } from '../activities/log/knownSession.ts';
import type { AskLog } from '../activities/log/sessionLog.ts';
import { fileArchive } from '../archive/segments.ts';
import { workflowId } from '../domain/ids.ts';
import { readHttpRules } from '../host/httpRules.ts';
import { keyFor } from '../host/credentials.ts';
import type { Home } from '../host/home.ts';
import { QUERIES } from '../workflows/contract.ts';
import type { Bus } from './bus.ts';

export interface WorkerSurroundings {
  home: Home;
  client: Client;
  bus: Bus;
  identity: string;
  env: NodeJS.ProcessEnv;
}

/** The dependencies of this worker's activities. */
export function createDeps({ home, client, bus, identity, env }: WorkerSurroundings): ActivityDeps {
  const archive = fileArchive(home.archive);
  return {
    log: new SessionLog(askWorkflow(client), archive),
    journal: new Journal(home.journal),
    blobs: new BlobStore(home.blobs),
    archive,
    apiKey: async (base_url) => keyFor(home, base_url, env),
    httpRules: async () => readHttpRules(home),
    publishDelta: (session_id, delta) => bus.emit('delta', session_id, delta),
    worker: identity,
    env,
  };
}

/** A query has this long before it is asked again. */
const QUERY_DEADLINE_MS = 10_000;
const ATTEMPTS = 8;
const FIRST_PAUSE_MS = 5;

/**
 * The server buffers one query of a session while a workflow task is pending and refuses the next, so a
 * query is asked again after a pause that grows and differs between askers.
 */
function askWorkflow(client: Client): AskLog {
  return async (session_id, page) => {
    const handle = client.workflow.getHandle(workflowId(session_id));
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await client.withDeadline(Date.now() + QUERY_DEADLINE_MS, async () =>
          handle.query<AnsweredPage, [typeof page]>(QUERIES.log, page),
        );
      } catch (error) {
        if (attempt >= ATTEMPTS) throw error;
        await delay(FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random()));
      }
    }
  };
}
