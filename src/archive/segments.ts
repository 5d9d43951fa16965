/**
 * The archive of a session: what Temporal's history held before each continue-as-new, on this host's disk.
 *
 *   root/<session_id>/000001.jsonl   the events of segment 1, one a line
 *   root/<session_id>/000001.json    its manifest, written last: a segment counts only with it
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { SessionEvent } from '../domain/event.ts';
import { makePrivateFolder, writeFileAtomic } from '../host/files.ts';
import { DamagedSegment, readBounded, readManifest, segmentNumbers, segmentPath } from './manifest.ts';
import type { SegmentManifest } from './manifest.ts';
import { type OnDamaged, walkBack, walkFrom } from './walk.ts';

export { DamagedSegment, type SegmentManifest } from './manifest.ts';

/** Where segments are kept. The file system is the first store; a shared one has the same shape. */
export interface ArchiveStore {
  /** Stores a segment; the same segment again replaces it, unless it would only cut off its end. */
  write: (
    segment: Omit<SegmentManifest, 'format' | 'bytes' | 'sha256'>,
    events: SessionEvent[],
  ) => Promise<void>;
  /**
   * The manifests in order, from the one that holds event `seq`, or the first after it. One is read when it is
   * asked for, and a damaged one rejects (DamagedSegment) when it is its turn, or is told and passed over.
   */
  from: (session_id: string, seq: number, onDamaged?: OnDamaged) => AsyncGenerator<SegmentManifest>;
  /** The same, newest first, from the one that holds the event before `before_seq`, or the last before it. */
  back: (session_id: string, before_seq: number, onDamaged?: OnDamaged) => AsyncGenerator<SegmentManifest>;
  /** Whether anything of the session was archived; also true when it is damaged. */
  has: (session_id: string) => Promise<boolean>;
  /** The newest manifest, or undefined when nothing was archived. Rejects with DamagedSegment. */
  last: (session_id: string) => Promise<SegmentManifest | undefined>;
  /**
   * The events of one segment, the unit of what is in memory at a time; with `from_seq` those from it on. Rejects
   * with DamagedSegment.
   */
  read: (manifest: SegmentManifest, from_seq?: number) => Promise<SessionEvent[]>;
}

/** The archive below a folder. */
export function fileArchive(root: string): ArchiveStore {
  return {
    write: async (segment, events) => writeSegment(root, segment, events),
    from: (session_id, seq, onDamaged) => walkFrom(root, session_id, seq, onDamaged),
    back: (session_id, before_seq, onDamaged) => walkBack(root, session_id, before_seq, onDamaged),
    has: async (session_id) => (await segmentNumbers(root, session_id)).length > 0,
    last: async (session_id) => {
      const number = (await segmentNumbers(root, session_id)).at(-1);
      return number === undefined ? undefined : readManifest(root, session_id, number);
    },
    read: async (manifest, from_seq) => readSegment(root, manifest, from_seq),
  };
}

async function writeSegment(
  root: string,
  segment: Omit<SegmentManifest, 'format' | 'bytes' | 'sha256'>,
  events: SessionEvent[],
): Promise<void> {
  const text = Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  if (await isContained(root, segment, text)) return;
  const manifest: SegmentManifest = {
    ...segment,
    format: 1,
    bytes: text.byteLength,
    sha256: createHash('sha256').update(text).digest('hex'),
  };
  await makePrivateFolder(join(root, segment.session_id));
  await writeFileAtomic(segmentPath(root, segment.session_id, segment.segment, 'jsonl'), text);
  await writeFileAtomic(
    segmentPath(root, segment.session_id, segment.segment, 'json'),
    `${JSON.stringify(manifest)}\n`,
  );
}

/**
 * Whether the segment is there with these events and later ones. Then this is a late write: of a worker that
 * was frozen while another one wrote what its session had grown to, which must not be cut off again.
 */
async function isContained(
  root: string,
  { session_id, segment, through_seq }: { session_id: string; segment: number; through_seq: number },
  text: Buffer,
): Promise<boolean> {
  try {
    const there = await readManifest(root, session_id, segment);
    if (there.through_seq <= through_seq) return false;
    return (await readWhole(root, there)).subarray(0, text.byteLength).equals(text);
  } catch {
    return false; // what is damaged, or not there, is written
  }
}

const LINE_FEED = 0x0a;

async function readSegment(root: string, manifest: SegmentManifest, from_seq = 0): Promise<SessionEvent[]> {
  const bytes = await readWhole(root, manifest);
  // One event is one line: JSON.stringify escapes the line breaks of texts.
  let start = 0;
  for (let seq = manifest.from_seq; seq < Math.min(from_seq, manifest.through_seq + 1); seq += 1)
    start = bytes.indexOf(LINE_FEED, start) + 1;
  const lines = bytes.toString('utf8', start).split('\n');
  return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line) as SessionEvent]));
}

/** The bytes of a segment's events, as they were written. */
async function readWhole(root: string, manifest: SegmentManifest): Promise<Buffer> {
  const { session_id, segment, from_seq, through_seq } = manifest;
  const path = segmentPath(root, session_id, segment, 'jsonl');
  const bytes = await readBounded(path, { exactly: manifest.bytes, from_seq, through_seq });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 === manifest.sha256) return bytes;
  throw new DamagedSegment(path, `content with sha256 ${sha256} instead of ${manifest.sha256}`, manifest);
}
