/** Nobody's work is overwritten unseen: what a write must have seen of a file before it may touch it. */
import type { WorkspacePath } from './paths.ts';
import { Refusal } from './refusal.ts';

export interface VersionCheck {
  path: WorkspacePath;
  /** The file's version now; null when there is no file. */
  now: string | null;
  /** As the call demands it. */
  expected?: string | undefined;
  /** What the session saw last: null that there was none, undefined that it never looked. */
  seen: string | null | undefined;
}

/** Throws a Refusal `READ_FIRST: …` or `FILE_CHANGED: …`, which says what to do next. */
export function checkVersion({ path, now, expected, seen }: VersionCheck): void {
  const known = expected ?? seen;
  const name = path.relative;
  const reading = `read_file ${JSON.stringify({ path: name })}`;
  if (now === null) {
    if (known === null || known === undefined) return;
    const what = expected === undefined ? 'which this session saw last' : 'which expected_version demands';
    throw new Refusal(
      `FILE_CHANGED: ${name} is gone. Expected version ${known}, ${what}; found no file. ` +
        `Nothing was changed. If it is to be created, call write_file without expected_version.`,
      [{ path: name, version: null }],
    );
  }
  if (known === undefined) {
    throw new Refusal(
      `READ_FIRST: ${name} exists and this session has not read it. Nothing was changed. ` +
        `Read it with ${reading}, then decide and repeat the call.`,
    );
  }
  if (known !== now) {
    throw new Refusal(
      `FILE_CHANGED: ${name} is not what this session saw last. Expected ${known === null ? 'no file' : `version ${known}`}, ` +
        `found version ${now}: somebody else changed it. Nothing was changed. ` +
        `Read it again with ${reading}, then decide and repeat the call.`,
    );
  }
}
