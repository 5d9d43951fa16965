/** What the model's endpoint saw of each session: its own log, independent of what Holdfast says of itself. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SeenRequest } from '../../src/demo/scriptedRequest.ts';

/** One request of a model call. */
export interface SeenCall {
  key: string;
  at: string;
  /** When the answer was out, and whether whole. */
  ended: { at: string; answered: boolean } | undefined;
}

/** What one session's model was sent. */
export interface Observed {
  requests: SeenCall[];
  /** Each text that stood as the result of a call, by call_id; more than one if the story changed. */
  claims: Map<string, string[]>;
  /** The `<recovery>` blocks. */
  blocks: string[];
  /** What was wrong with a request itself. */
  invalid: string[];
  /** Requests that came although the reply's receipt was on the disk. */
  paidTwice: string[];
}

export class Observations {
  readonly #journal: string;
  readonly #sessions = new Map<number, Observed>();

  /** `journal`: the home's folder of operations. */
  constructor(journal: string) {
    this.#journal = journal;
  }

  of(session: number): Observed {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    const fresh: Observed = { requests: [], claims: new Map(), blocks: [], invalid: [], paidTwice: [] };
    this.#sessions.set(session, fresh);
    return fresh;
  }

  /** To be called when the request arrives, before it is answered. */
  note(session: number, request: SeenRequest): void {
    const observed = this.of(session);
    this.#noteCall(observed, request);
    for (const problem of problemsOf(request)) observed.invalid.push(`${request.idempotencyKey}: ${problem}`);
    for (const [call_id, text] of Object.entries(request.toolResults)) {
      const texts = observed.claims.get(call_id) ?? [];
      if (!texts.includes(text)) observed.claims.set(call_id, [...texts, text]);
    }
    for (const { role, text } of request.messages) {
      const isNew = role === 'user' && text.startsWith('<recovery>') && !observed.blocks.includes(text);
      if (isNew) observed.blocks.push(text);
    }
  }

  #noteCall(observed: Observed, request: SeenRequest): void {
    const key = request.idempotencyKey ?? '';
    const call: SeenCall = { key, at: request.at, ended: undefined };
    observed.requests.push(call);
    void noteEnd(call, request.ended);
    const [session_id = ''] = key.split('.');
    if (existsSync(join(this.#journal, session_id, key, 'receipt.json'))) {
      observed.paidTwice.push(`${key} was asked again at ${request.at} although its receipt was there`);
    }
  }
}

async function noteEnd(call: SeenCall, ended: SeenRequest['ended']): Promise<void> {
  const outcome = await ended;
  call.ended = { at: new Date().toISOString(), answered: outcome === 'answered' };
}

/** A conversation is valid when each call has exactly one result, right after the reply that asked for it. */
function problemsOf(request: SeenRequest): string[] {
  const problems: string[] = [];
  if (request.idempotencyKey === undefined) problems.push('no Idempotency-Key');
  let owed: string[] = [];
  for (const { role, call_id, calls } of request.messages) {
    if (role === 'tool') {
      const at = owed.indexOf(call_id ?? '');
      if (at === -1) problems.push(`a result of ${call_id} without its call right before it`);
      else owed.splice(at, 1);
      continue;
    }
    problems.push(...owed.map((missing) => `no result of ${missing} right after its call`));
    owed = calls.map((call) => call.call_id);
  }
  return [...problems, ...owed.map((missing) => `no result of ${missing} at the end`)];
}
