/**
 * Ways through a session's manifests, one at a time: each carries a whole state, so those of a long session
 * would not fit in memory together. Segments ascend in seq, so where to begin is found by halving.
 */
import { DamagedSegment, readManifest, segmentNumbers, type SegmentManifest } from './manifest.ts';

/** What to do with a manifest that can't be read. Absent: the way ends with it. */
export type OnDamaged = (error: DamagedSegment) => void;

/** In order, from the segment that holds event `seq`, or the first one after it. */
export async function* walkFrom(
  root: string,
  session_id: string,
  seq: number,
  onDamaged?: OnDamaged,
): AsyncGenerator<SegmentManifest> {
  const numbers = await segmentNumbers(root, session_id);
  const { holder, low } = await find(root, session_id, numbers, seq);
  if (holder !== undefined) yield holder.manifest;
  const next = holder === undefined ? low : holder.index + 1;
  yield* manifestsOf(root, session_id, numbers.slice(next), onDamaged);
}

/** Newest first, from the segment that holds the event before `before_seq`, or the last one before it. */
export async function* walkBack(
  root: string,
  session_id: string,
  before_seq: number,
  onDamaged?: OnDamaged,
): AsyncGenerator<SegmentManifest> {
  const numbers = await segmentNumbers(root, session_id);
  const { holder, high } = await find(root, session_id, numbers, before_seq - 1);
  if (holder !== undefined) yield holder.manifest;
  const end = holder === undefined ? high : holder.index;
  yield* manifestsOf(root, session_id, numbers.slice(0, end).toReversed(), onDamaged);
}

async function* manifestsOf(
  root: string,
  session_id: string,
  numbers: number[],
  onDamaged: OnDamaged | undefined,
): AsyncGenerator<SegmentManifest> {
  for (const number of numbers) {
    try {
      yield await readManifest(root, session_id, number);
    } catch (error) {
      if (onDamaged === undefined || !(error instanceof DamagedSegment)) throw error;
      onDamaged(error);
    }
  }
}

/**
 * The segment that holds an event. Without one, those below `low` end before the event and those
 * from `high` on begin after it; between the two are only segments whose manifests can't be read.
 */
interface Place {
  holder?: Probe;
  low: number;
  high: number;
}

/** What is opened is nearly always in one of so many newest segments: these are looked at before halving begins. */
const NEWEST = 2;

async function find(root: string, session_id: string, numbers: number[], seq: number): Promise<Place> {
  let [low, high] = [0, numbers.length];
  for (let probes = 1; low < high; probes += 1) {
    const start = probes <= NEWEST ? high - 1 : Math.floor((low + high) / 2);
    const probe = await readNear(root, session_id, numbers, { low, high, start });
    if (probe === undefined) break;
    const { index, manifest } = probe;
    if (manifest.through_seq < seq) low = index + 1;
    else if (manifest.from_seq > seq) high = index;
    else return { holder: probe, low, high };
  }
  return { low, high };
}

interface Probe {
  index: number;
  manifest: SegmentManifest;
}

/**
 * The manifest at `start`, or else the next one between `low` and `high` that can be read. Why one can't is not
 * asked here: whoever needs that very segment reads it again and is told.
 */
async function readNear(
  root: string,
  session_id: string,
  numbers: number[],
  { low, high, start }: { low: number; high: number; start: number },
): Promise<Probe | undefined> {
  const indexes = Array.from(
    { length: high - low },
    (_, step) => low + ((start - low + step) % (high - low)),
  );
  for (const index of indexes) {
    const manifest = await readManifest(root, session_id, numbers[index] ?? 0).catch(() => undefined);
    if (manifest !== undefined) return { index, manifest };
  }
  return undefined;
}
