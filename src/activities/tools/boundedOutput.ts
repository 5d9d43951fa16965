/**
 * What a model is shown of an output of any size: all of it where it fits, else its head and its tail, with
 * a line between them that says what was cut and how to read it. The whole output is kept as a blob.
 */
import { open } from 'node:fs/promises';
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { BlobRef } from '../../domain/tool.ts';
import type { BlobStore } from '../journal/blobs.ts';
import { CODE_POINT_MAX_BYTES, cleanText, takeEnd, takeStart } from './utf8.ts';

export interface BoundOptions {
  /** The call that made the output: what `read_output` is to be given. */
  call_id: string;
  blobs: BlobStore;
  /** UTF-8 bytes that the text may have; less than OUTPUT_MAX_BYTES where the tool adds words of its own. */
  max_bytes?: number;
}

export interface BoundedOutput {
  /** At most `max_bytes`, valid Unicode without NUL. */
  output: string;
  /** The whole output, when `output` is only a part of it. */
  blob?: BlobRef;
}

/**
 * Bounds an output that is in memory, or in a file, which is never loaded whole and may still grow: what is
 * shown and what is stored are the same bytes. Rejects with the file system's errors.
 */
export async function boundOutput(
  source: Uint8Array | { path: string },
  options: BoundOptions,
): Promise<BoundedOutput> {
  const max_bytes = options.max_bytes ?? OUTPUT_MAX_BYTES;
  const start = source instanceof Uint8Array ? source : await readStart(source.path, max_bytes + 1);
  if (start.byteLength <= max_bytes) {
    const output = cleanText(start);
    if (Buffer.byteLength(output) <= max_bytes) return { output };
  }
  const blob = await store(source, options.blobs);
  return { output: await headAndTail(blob, max_bytes, options), blob };
}

async function readStart(path: string, length: number): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await file.read(buffer, filled, length - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  } finally {
    await file.close();
  }
}

function store(source: Uint8Array | { path: string }, blobs: BlobStore): Promise<BlobRef> {
  return source instanceof Uint8Array ? blobs.put(source) : blobs.putFile(source.path);
}

/** Reads from the blob, not from the source: a spool may have grown since it was stored. */
async function headAndTail(blob: BlobRef, max_bytes: number, options: BoundOptions): Promise<string> {
  const longest_notice = Buffer.byteLength(notice(blob.bytes, blob.bytes, blob.bytes, options.call_id));
  const half = Math.max(0, Math.floor((max_bytes - longest_notice) / 2));
  // A little more than can be shown, so that the last code point is whole.
  const head = takeStart(await options.blobs.read(blob, 0, half + CODE_POINT_MAX_BYTES), 0, half);
  // Where an output of little more than the limit has bytes that grow as text, head and tail would overlap.
  const tail_from = Math.max(head.end, blob.bytes - half);
  const tail = takeEnd(await options.blobs.read(blob, tail_from, blob.bytes - tail_from), half);
  return head.text + notice(head.end, tail_from + tail.start, blob.bytes, options.call_id) + tail.text;
}

function notice(from: number, to: number, total: number, call_id: string): string {
  const next = JSON.stringify({ call_id, offset: from });
  return `\n[… ${to - from} of ${total} bytes are cut here (bytes ${from} to ${to}). Read them with read_output ${next} …]\n`;
}
