/**
 * What is on disk about one attempt to send a request that may have an effect:
 *
 *   gate-N            entered before the connection is made
 *   sent-N            created exclusively, right before the first byte leaves: the second gate. A reconciler
 *                     that creates it first has shut it, and then nothing ever left or will leave
 *   hops-N.json       redirects that were answered
 *   receipt-N.json    the answer, or why there will be none, before it is reported
 */
import { createFileExclusive, readFileIfThere } from '../../host/files.ts';
import type { BlobRef } from '../../domain/tool.ts';
import { Fenced, type OperationRecord } from '../journal/operation.ts';
import type { Hop } from './redirects.ts';

/** The plan in a request's intent: no secrets, so no header values, no body and no query. */
export interface HttpPlan {
  method: string;
  url: string;
  header_names: string[];
  body_bytes: number;
  body_sha256: string | null;
}

export interface Sent {
  at: string;
  worker: string;
}

/** What came of a request. `unanswered`: it was sent, and this worker gave up. */
export type Receipt =
  | {
      kind: 'answered';
      method: string;
      url: string;
      status: number;
      status_text: string;
      headers: [string, string][];
      body: BlobRef;
      cut?: string;
      hops: Hop[];
      note?: string;
    }
  | { kind: 'unanswered'; method: string; url: string; sent_at: string; why: string; interrupted: boolean }
  | { kind: 'not_sent'; method: string; url: string; why: string; interrupted: boolean };

const CLOSED = 'closed';

export class HttpProofs {
  readonly record: OperationRecord;
  readonly attempt: number;

  constructor(record: OperationRecord, attempt: number) {
    this.record = record;
    this.attempt = attempt;
  }

  /** Takes the right to send. Throws Fenced when a reconciler was first. */
  async markSent(worker: string): Promise<Sent> {
    const sent: Sent = { at: new Date().toISOString(), worker };
    if (await createFileExclusive(this.#sentPath, `${JSON.stringify(sent)}\n`)) return sent;
    throw new Fenced(this.record.operation_id, this.attempt);
  }

  /** Shuts the way to send, unless it was sent: then when, and by whom. */
  async closeSent(): Promise<Sent | 'closed'> {
    if (await createFileExclusive(this.#sentPath, `${CLOSED} ${new Date().toISOString()}\n`)) return 'closed';
    if ((await readFileIfThere(this.#sentPath))?.startsWith(CLOSED)) return 'closed';
    const sent = await this.record.readProof<Sent>(this.#sentName);
    if (sent === undefined) throw new Error(`Expected ${this.#sentPath}, which was there; found nothing.`);
    return sent;
  }

  async writeHops(hops: Hop[]): Promise<void> {
    await this.record.writeProof(`hops-${this.attempt}.json`, hops);
  }

  async readHops(): Promise<Hop[]> {
    return (await this.record.readProof<Hop[]>(`hops-${this.attempt}.json`)) ?? [];
  }

  async writeReceipt(receipt: Receipt): Promise<void> {
    await this.record.writeProof(`receipt-${this.attempt}.json`, receipt);
  }

  async readReceipt(): Promise<Receipt | undefined> {
    return this.record.readProof<Receipt>(`receipt-${this.attempt}.json`);
  }

  get #sentName(): string {
    return `sent-${this.attempt}`;
  }

  get #sentPath(): string {
    return this.record.path(this.#sentName);
  }
}
