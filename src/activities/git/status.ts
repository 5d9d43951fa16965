/** `git status --porcelain=v2 -z`, read (git-status(1), "Porcelain Format Version 2"). */
import { askGitSurely, type GitPlace } from './git.ts';

/** One changed path. The letters are git's: M, T, A, D, R, C, U; `.` is unchanged. */
export interface ChangedPath {
  kind: 'tracked' | 'conflict' | 'untracked';
  /** In the index against HEAD. */
  staged: string;
  /** In the working tree against the index. */
  unstaged: string;
  /** Relative to the top of the working tree, one character for each byte. */
  raw: string;
  /** Where a rename or copy came from. */
  from?: string;
}

export interface GitStatus {
  /** `origin/main`; null when there is none. */
  upstream: string | null;
  /** Null when there is no upstream or it is gone. */
  ahead: number | null;
  behind: number | null;
  paths: ChangedPath[];
}

export interface StatusOptions {
  untracked: 'all' | 'normal' | 'no';
  renames: boolean;
  /** Relative to the place, taken literally. Left out: everything. */
  paths?: string[];
}

/** Reads the status. Rejects with Refusal when git can't tell. */
export async function readStatus(place: GitPlace, options: StatusOptions): Promise<GitStatus> {
  const { untracked, renames, paths = [] } = options;
  const text = await askGitSurely(place, [
    'status',
    '--porcelain=v2',
    '--branch',
    '-z',
    `--untracked-files=${untracked}`,
    renames ? '--find-renames' : '--no-renames',
    '--',
    ...paths.map((path) => `:(literal)${path}`),
  ]);
  return parseStatus(text);
}

/** Records end with NUL; a rename or copy is followed by a second one with the old path. */
export function parseStatus(text: string): GitStatus {
  const status: GitStatus = { upstream: null, ahead: null, behind: null, paths: [] };
  const records = text.split('\0');
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? '';
    if (record.startsWith('# ')) readHeader(status, record);
    else if (record.startsWith('2 ')) {
      status.paths.push({ ...entry('tracked', record, 9), from: records[at + 1] ?? '' });
      at += 1;
    } else if (record !== '') status.paths.push(readPath(record));
  }
  return status;
}

function readHeader(status: GitStatus, record: string): void {
  const upstream = /^# branch\.upstream (.+)$/.exec(record);
  if (upstream !== null) status.upstream = upstream[1] ?? null;
  const counts = /^# branch\.ab \+(\d+) -(\d+)$/.exec(record);
  if (counts === null) return;
  status.ahead = Number(counts[1]);
  status.behind = Number(counts[2]);
}

function readPath(record: string): ChangedPath {
  if (record.startsWith('1 ')) return entry('tracked', record, 8);
  if (record.startsWith('u ')) return entry('conflict', record, 10);
  return { kind: 'untracked', staged: '.', unstaged: '?', raw: record.slice(2) };
}

/** The path comes after `fields` fields and may hold blanks itself. */
function entry(kind: ChangedPath['kind'], record: string, fields: number): ChangedPath {
  const parts = record.split(' ');
  const letters = parts[1] ?? '..';
  return { kind, staged: letters[0] ?? '.', unstaged: letters[1] ?? '.', raw: parts.slice(fields).join(' ') };
}
