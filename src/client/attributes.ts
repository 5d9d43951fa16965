/** A session's search attributes as they come over the wire: each a payload of JSON. */
import type { SearchAttributeName } from '../host/searchAttributes.ts';

/** What visibility shows of a session. */
export interface SeenAttributes {
  status: string;
  run_state: string;
  user: string;
  workspace: string;
  host: string;
  title: string;
  runs: number;
  uncertain: number;
  created_at: string;
  updated_at: string;
}

type Fields = Record<string, { data?: Uint8Array | null }> | null | undefined;

/** Decoded by hand: the SDK's way takes four times as long, which a list of thousands would show. */
export function attributesOfExecution(fields: Fields): SeenAttributes {
  const text = (name: SearchAttributeName): string => asText(decode(fields, name));
  const number = (name: SearchAttributeName): number => Number(decode(fields, name) ?? 0);
  const time = (name: SearchAttributeName): string => {
    const value = decode(fields, name);
    return typeof value === 'string' ? new Date(value).toISOString() : '';
  };
  return {
    status: text('HoldfastStatus') || 'active',
    run_state: text('HoldfastRunState') || 'idle',
    user: text('HoldfastUser'),
    workspace: text('HoldfastWorkspace'),
    host: text('HoldfastHost'),
    title: text('HoldfastTitle'),
    runs: number('HoldfastRuns'),
    uncertain: number('HoldfastUncertain'),
    created_at: time('HoldfastCreatedAt'),
    updated_at: time('HoldfastUpdatedAt'),
  };
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function decode(fields: Fields, name: SearchAttributeName): unknown {
  const data = fields?.[name]?.data;
  if (data === undefined || data === null) return undefined;
  const value: unknown = JSON.parse(Buffer.from(data).toString('utf8'));
  // Newer servers may send a keyword as a list of one.
  return Array.isArray(value) ? value[0] : value;
}
