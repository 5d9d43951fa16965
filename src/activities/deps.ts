/** What activities need of the world around them; the worker makes it once (worker/deps.ts). */
import type { ArchiveStore } from '../archive/segments.ts';
import type { HttpRules } from '../host/httpRules.ts';
import type { BlobStore } from './journal/blobs.ts';
import type { Journal } from './journal/operation.ts';
import type { SessionLog } from './log/sessionLog.ts';

/** A piece of a reply while it is being made. It travels on the bus alone. */
export interface Delta {
  operation_id: string;
  kind: 'text' | 'reasoning' | 'tool_arguments';
  text: string;
}

export interface ActivityDeps {
  log: SessionLog;
  journal: Journal;
  blobs: BlobStore;
  archive: ArchiveStore;
  /** The API key for a provider; undefined where none is known, as for a local server that needs none. */
  apiKey: (base_url: string | null) => Promise<string | undefined>;
  /** What http_request may reach, as configured now. Rejects with SettingsError. */
  httpRules: () => Promise<HttpRules>;
  publishDelta: (session_id: string, delta: Delta) => void;
  /** Names this worker process in gates and evidence. */
  worker: string;
  /** The worker's own environment. */
  env: NodeJS.ProcessEnv;
}
