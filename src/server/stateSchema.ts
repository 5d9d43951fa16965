/** The shape of `state.json`, loaded only when its digest does not vouch for it. */
import { z } from 'zod';
import { STATE_VERSION, type State } from './state.ts';

const processIdentity = z.object({ pid: z.int().positive(), start: z.string(), boot: z.string() });
const port = z.int().min(1).max(65_535);
const part = z.object({
  process: processIdentity.nullable(),
  phase: z.enum(['idle', 'starting', 'ready', 'waiting', 'crashed']),
  deaths: z.int().nonnegative(),
  last_exit: z.string().nullable(),
  retry_at: z.string().nullable(),
});

export const stateSchema: z.ZodType<State> = z.object({
  version: z.literal(STATE_VERSION),
  home: z.string(),
  supervisor: processIdentity,
  ports: z.object({ grpc: port, ui: port, http: port, metrics: port }),
  binary: z.object({ path: z.string(), version: z.string(), server_version: z.string() }),
  server: part,
  worker: part.extend({ entry: z.string(), address: z.string() }).nullable(),
});
