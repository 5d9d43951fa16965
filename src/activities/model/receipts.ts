/**
 * Model replies that survive the worker: a reply is written down, whole and durably, before the activity
 * returns it. An attempt that comes after a kill finds it there and does not pay again.
 */
import { reached } from '../../host/faults.ts';
import type { OperationRecord } from '../journal/operation.ts';

const RECEIPT = 'receipt.json';
const TOOL = 'call_model';

export interface ReceiptOptions {
  /** Of the Temporal activity, for the intent. Default: 1. */
  attempt?: number;
  /** What is about to be asked (model, digest), for whoever reads the journal. */
  plan?: unknown;
}

/**
 * Returns the receipt of this operation if it has one; otherwise writes the intent, calls, and keeps the
 * result as the receipt. A receipt that can't be read is no receipt: the call is repeated under the same
 * key, and a note of the reply names the file. Rejects with what `call` rejects with, and with the file
 * system's error when the receipt can't be written (the reply is then unrecorded, as if never received).
 */
export async function withReceipt<T extends { notes: string[] }>(
  record: OperationRecord,
  call: () => Promise<T>,
  options: ReceiptOptions = {},
): Promise<T> {
  return alone(record.folder, async () => receiptOrCall(record, call, options));
}

/** What runs now of each operation in this process, by its folder. */
const underWay = new Map<string, Promise<unknown>>();

/**
 * One attempt after the other: a worker that was frozen past its heartbeat time-out has two of one operation,
 * and the reply that the older one still receives must not be paid for by the newer. The older is aborted
 * with its next heartbeat, so it is not waited for long.
 */
async function alone<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const before = underWay.get(folder) ?? Promise.resolve();
  const now = before.then(work, work);
  underWay.set(folder, now);
  try {
    return await now;
  } finally {
    if (underWay.get(folder) === now) underWay.delete(folder);
  }
}

async function receiptOrCall<T extends { notes: string[] }>(
  record: OperationRecord,
  call: () => Promise<T>,
  options: ReceiptOptions,
): Promise<T> {
  const found = await readReceipt(record);
  if ('reply' in found) return found.reply as T;
  await record.recordIntent(TOOL, options.attempt ?? 1, options.plan ?? null);
  const answer = await call();
  const reply = found.note === undefined ? answer : { ...answer, notes: [...answer.notes, found.note] };
  await record.writeProof(RECEIPT, { operation_id: record.operation_id, reply });
  await reached('after_receipt');
  return reply;
}

async function readReceipt(
  record: OperationRecord,
): Promise<{ reply: unknown } | { note: string | undefined }> {
  let receipt: { operation_id?: unknown; reply?: unknown } | null | undefined;
  try {
    receipt = await record.readProof(RECEIPT);
  } catch (error) {
    return { note: `${String(error)} The model was called again under the same key.` };
  }
  if (receipt === undefined) return { note: undefined };
  if (receipt?.operation_id === record.operation_id && receipt.reply) return { reply: receipt.reply };
  return {
    note: `Expected the receipt of ${record.operation_id} in ${record.path(RECEIPT)}, found another. The model was called again under the same key.`,
  };
}
