/**
 * The archive of a session: what Temporal's history held before each continue-as-new, on this host's disk.
 *
 *   root/<session_id>/000001.jsonl   the events of segment 1, one a line
 *   root/<session_id>/000001.json    its manifest, written last: a segment counts only with it
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionEvent } from '../domain/event.ts';
import type { SessionState } from '../domain/session.ts';
import { upgradeState } from '../domain/upgrade.ts';
import { hasCode, makePrivateFolder, readFileIfThere, writeFileAtomic } from '../host/files.ts';

/** What is known of a segment without reading its events. */
export interface SegmentManifest {
  format: 1;
  session_id: string;
  segment: number;
  from_seq: number;
  through_seq: number;
  bytes: number;
  /** Of the .jsonl file. */
  sha256: string;
  /** As it was after `through_seq`. */
  state: SessionState;
}

/** A segment that is damaged: it alone can't be read. */
class DamagedSegment extends Error {
  constructor(path: string, found: string) {
    super(
      `Expected a whole archive segment in ${path}, found ${found}. Restore the file from a backup; all other segments can still be read.`,
    );
    this.name = 'DamagedSegment';
  }
}

/** Where segments are kept. The file system is the first store; a shared one has the same shape. */
export interface ArchiveStore {
  /** Stores a segment; the same segment again replaces it. */
  write: (
    segment: Omit<SegmentManifest, 'format' | 'bytes' | 'sha256'>,
    events: SessionEvent[],
  ) => Promise<void>;
  /** Manifests of the segments with events after `after_seq` (default: all), in order. Rejects with DamagedSegment. */
  manifests: (session_id: string, after_seq?: number) => Promise<SegmentManifest[]>;
  /** The newest manifest, or undefined when nothing was archived. Rejects with DamagedSegment. */
  last: (session_id: string) => Promise<SegmentManifest | undefined>;
  /** The events of one segment. Rejects with DamagedSegment. */
  read: (manifest: SegmentManifest) => Promise<SessionEvent[]>;
}

/** The archive below a folder. */
export function fileArchive(root: string): ArchiveStore {
  return {
    write: async (segment, events) => writeSegment(root, segment, events),
    manifests: async (session_id, after_seq = 0) => readManifests(root, session_id, after_seq),
    last: async (session_id) => {
      const number = (await segmentNumbers(root, session_id)).at(-1);
      return number === undefined ? undefined : readManifest(root, session_id, number);
    },
    read: async (manifest) => readSegment(root, manifest),
  };
}

async function writeSegment(
  root: string,
  segment: Omit<SegmentManifest, 'format' | 'bytes' | 'sha256'>,
  events: SessionEvent[],
): Promise<void> {
  const text = events.map((event) => `${JSON.stringify(event)}\n`).join('');
  const manifest: SegmentManifest = {
    ...segment,
    format: 1,
    bytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
  };
  await makePrivateFolder(join(root, segment.session_id));
  await writeFileAtomic(segmentPath(root, segment.session_id, segment.segment, 'jsonl'), text);
  await writeFileAtomic(
    segmentPath(root, segment.session_id, segment.segment, 'json'),
    `${JSON.stringify(manifest)}\n`,
  );
}

async function readSegment(root: string, manifest: SegmentManifest): Promise<SessionEvent[]> {
  const path = segmentPath(root, manifest.session_id, manifest.segment, 'jsonl');
  const text = await readFileIfThere(path);
  if (text === undefined) throw new DamagedSegment(path, 'no file');
  const sha256 = createHash('sha256').update(text).digest('hex');
  if (sha256 !== manifest.sha256)
    throw new DamagedSegment(path, `content with sha256 ${sha256} instead of ${manifest.sha256}`);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SessionEvent);
}

/** From the newest back, so that an older one that is damaged hides nothing that came after it. */
async function readManifests(
  root: string,
  session_id: string,
  after_seq: number,
): Promise<SegmentManifest[]> {
  const manifests: SegmentManifest[] = [];
  for (const number of (await segmentNumbers(root, session_id)).toReversed()) {
    const manifest = await readManifest(root, session_id, number);
    if (manifest.through_seq > after_seq) manifests.unshift(manifest);
    if (manifest.from_seq <= after_seq + 1) break;
  }
  return manifests;
}

async function readManifest(root: string, session_id: string, segment: number): Promise<SegmentManifest> {
  const path = segmentPath(root, session_id, segment, 'json');
  const { format, ...manifest } = parse(await readFile(path, 'utf8'));
  if (typeof format !== 'number') throw new DamagedSegment(path, 'no manifest');
  if (format !== 1) throw new DamagedSegment(path, `format ${format}, which a newer Holdfast may know`);
  if (manifest.session_id !== session_id || manifest.segment !== segment)
    throw new DamagedSegment(path, `the manifest of segment ${manifest.segment} of ${manifest.session_id}`);
  return { format, ...manifest, state: upgradeState(manifest.state) };
}

/** A manifest, as far as one can tell; of a torn or foreign file an empty object. */
function parse(text: string): Omit<SegmentManifest, 'format'> & { format: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return Object();
  }
}

async function segmentNumbers(root: string, session_id: string): Promise<number[]> {
  try {
    const names = await readdir(join(root, session_id));
    return names
      .map((name) => /^(\d{6,})\.json$/.exec(name)?.[1])
      .filter((number) => number !== undefined)
      .map(Number)
      .toSorted((a, b) => a - b);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

function segmentPath(root: string, session_id: string, segment: number, extension: 'json' | 'jsonl'): string {
  return join(root, session_id, `${String(segment).padStart(6, '0')}.${extension}`);
}
