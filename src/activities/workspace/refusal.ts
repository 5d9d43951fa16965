/** A tool's own failure on its way from a helper to the model: a result, never an error of the system. */
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { FileVersion, ToolOutcome } from '../../domain/tool.ts';
import { hasCode } from '../../host/files.ts';
import { takeStart } from '../tools/utf8.ts';

/** Thrown by helpers; `settle` turns it into the outcome that it carries. */
export class Refusal extends Error {
  readonly outcome: ToolOutcome;

  /** `output` says what was expected, what was found and what to do next. */
  constructor(output: string, versions?: FileVersion[]) {
    super(output);
    this.name = 'Refusal';
    // Bounded here for all: a refusal repeats what it was given, a path of 500 kB too.
    const { text } = takeStart(Buffer.from(output), 0, OUTPUT_MAX_BYTES);
    this.outcome = { status: 'failed', output: text, ...(versions && { versions }) };
  }
}

/** Thrown when the run is interrupted before the effect. */
export class Interrupted extends Refusal {
  constructor(output: string) {
    super(output);
    this.outcome.status = 'cancelled';
  }
}

/** The outcome of `work`, where a Refusal is one too. Everything else that is thrown rejects. */
export async function settle(work: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal) return error.outcome;
    throw error;
  }
}

/** What the model can do something about; a full disk or a broken one is not among them. */
const REFUSED_CODES: Record<string, string> = {
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'something else is in its place',
  ELOOP: 'its symbolic links lead in a circle or were changed meanwhile',
  ENAMETOOLONG: 'the name is too long',
  ETXTBSY: 'it is a program that is running',
  ENOENT: 'it, or its folder, is not there any more',
};

/** The file system's error as a Refusal about `path`, or unchanged when it is one of infrastructure. */
export function refusalOf(error: unknown, path: string): unknown {
  const reason = Object.entries(REFUSED_CODES).find(([code]) => hasCode(error, code));
  return reason ? new Refusal(`${path} can't be used: ${reason[1]} (${reason[0]}).`) : error;
}
