/** A page of an output of any size, cut between code points, with a line above it that says how to go on. */
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import { CODE_POINT_MAX_BYTES, codePointStart, takeStart } from './utf8.ts';

/** Room for the line above the text. */
const HEADER_MAX_BYTES = 1024;
/** Bytes that one page shows at most. */
export const TEXT_PAGE_MAX_BYTES = OUTPUT_MAX_BYTES - HEADER_MAX_BYTES;

export interface PagedSource {
  /** Size in bytes. */
  total: number;
  /** Bytes from `offset`; fewer at the end. */
  read: (offset: number, length: number) => Promise<Buffer>;
  /** Said at the end of the source, e.g. `This is the end.` */
  at_end: string;
}

/** The page from `offset`, of at most `limit` bytes. */
export async function textPage(source: PagedSource, offset: number, limit: number): Promise<string> {
  const { total } = source;
  // A few bytes more on both sides, so that the code points at the edges are whole.
  const from = Math.max(0, offset - CODE_POINT_MAX_BYTES);
  const bytes = await source.read(from, offset + limit + CODE_POINT_MAX_BYTES - from);
  const start = codePointStart(bytes, offset - from);
  const slice = takeStart(bytes, start, Math.max(limit, CODE_POINT_MAX_BYTES));
  const end = from + slice.end;
  const next = end < total ? `${total - end} bytes remain: go on with offset ${end}.` : source.at_end;
  return `[bytes ${from + slice.start} to ${end} of ${total}. ${next}]\n${slice.text}`;
}
