/** Manifests: what is known of a segment without its events, and the names of a segment's two files. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionState } from '../domain/session.ts';
import { hasCode } from '../host/files.ts';

/** What is known of a segment without reading its events. */
export interface SegmentManifest {
  format: 1;
  session_id: string;
  segment: number;
  from_seq: number;
  /** One less than `from_seq` in a segment without events. */
  through_seq: number;
  bytes: number;
  /** Of the .jsonl file. */
  sha256: string;
  /** As it was after `through_seq`. */
  state: SessionState;
}

/** A segment that is damaged: it alone can't be read. */
export class DamagedSegment extends Error {
  readonly code = 'archive.damaged';
  readonly remedy: string;

  /** `events`: which ones are in it, where that is known. */
  constructor(path: string, found: string, events?: { from_seq: number; through_seq: number }) {
    const what = events === undefined ? '' : ` with events ${events.from_seq} to ${events.through_seq}`;
    super(`Expected a whole archive segment${what} in ${path}, found ${found}.`);
    this.name = 'DamagedSegment';
    const after = events === undefined ? 'N` reads on behind it' : `${events.through_seq + 1}\` reads on`;
    this.remedy = `Restore the file from a backup. All other segments can be read: \`holdfast events ID --from ${after}.`;
  }
}

/** A state is bounded by what Temporal carries over (2 MiB); a larger file is none of ours. */
const MANIFEST_MAX_BYTES = 16 * 1024 * 1024;

/** The numbers of a session's segments, ascending: of those that have a manifest. Other files are passed over. */
export async function segmentNumbers(root: string, session_id: string): Promise<number[]> {
  try {
    const names = await readdir(join(root, session_id));
    return names
      .map((name) => ({ name, number: Number.parseInt(name, 10) }))
      .filter(({ name, number }) => name === `${segmentName(number)}.json`)
      .map(({ number }) => number)
      .toSorted((a, b) => a - b);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Rejects with DamagedSegment, or with the file system's error where the file may be whole and can't be read. */
export async function readManifest(
  root: string,
  session_id: string,
  segment: number,
): Promise<SegmentManifest> {
  const path = segmentPath(root, session_id, segment, 'json');
  const bytes = await readBounded(path, { max: MANIFEST_MAX_BYTES });
  const { format, ...manifest } = parse(bytes.toString('utf8'));
  if (typeof format !== 'number') throw new DamagedSegment(path, 'no manifest');
  if (format !== 1) throw new DamagedSegment(path, `format ${format}, which a newer Holdfast may know`);
  if (manifest.session_id !== session_id || manifest.segment !== segment)
    throw new DamagedSegment(path, `the manifest of segment ${manifest.segment} of ${manifest.session_id}`);
  if (!isComplete(manifest)) throw new DamagedSegment(path, 'a manifest that lacks a part');
  return { format, ...manifest };
}

/**
 * The file's bytes, when there are as many as there may be: a file that something else has put there is not
 * taken into memory. Rejects with DamagedSegment.
 */
export async function readBounded(
  path: string,
  size: { max: number } | { exactly: number; from_seq: number; through_seq: number },
): Promise<Buffer> {
  const events = 'exactly' in size ? size : undefined;
  try {
    await using file = await open(path, 'r');
    const found = await file.stat();
    if (!found.isFile()) throw new DamagedSegment(path, 'something that is no file', events);
    if ('exactly' in size ? found.size !== size.exactly : found.size > size.max) {
      const expected = 'exactly' in size ? size.exactly : `at most ${size.max}`;
      throw new DamagedSegment(path, `${found.size} bytes instead of ${expected}`, events);
    }
    return await file.readFile();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw new DamagedSegment(path, 'no file', events);
    // A disk that can't give the bytes back.
    if (hasCode(error, 'EIO')) throw new DamagedSegment(path, 'bytes that the disk can not read', events);
    throw error;
  }
}

/** The path of one of a segment's files. */
export function segmentPath(
  root: string,
  session_id: string,
  segment: number,
  extension: 'json' | 'jsonl',
): string {
  return join(root, session_id, `${segmentName(segment)}.${extension}`);
}

function segmentName(segment: number): string {
  return String(segment).padStart(6, '0');
}

type Parsed = Omit<SegmentManifest, 'format'>;

/** A manifest, as far as one can tell; of a torn or foreign file an empty object. */
function parse(text: string): Parsed & { format: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return Object();
  }
}

function isComplete({ from_seq, through_seq, bytes, sha256, state }: Parsed): boolean {
  const counted = [from_seq, through_seq, bytes].every((number) => Number.isSafeInteger(number));
  return counted && from_seq <= through_seq + 1 && typeof sha256 === 'string' && state?.seq === through_seq;
}
