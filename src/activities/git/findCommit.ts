/** The commit of an operation, found by its trailer, and what is in it. */
import { askGit, askGitSurely, shownPath, type GitPlace } from './git.ts';
import { TRAILER, type CommitPlan } from './commitPlan.ts';

export interface FoundCommit {
  sha: string;
  /** The first; null for a first commit. */
  parent: string | null;
  subject: string;
}

/** Clocks are set and summer ends: commits from this long before the intent are looked at too. */
const CLOCK_SLACK_MS = 2 * 24 * 60 * 60 * 1000;

/**
 * Looks at all that was committed since HEAD was as planned, on any branch and in the reflogs, since
 * somebody may have switched, amended or reset after it. The oldest commit with the trailer is the original.
 */
export async function findCommit(
  place: GitPlace,
  operation_id: string,
  intent: { at: string; plan: Pick<CommitPlan, 'head_before'> },
): Promise<FoundCommit | undefined> {
  const trailer = `${TRAILER}: ${operation_id}`;
  const { head_before } = intent.plan;
  const known =
    head_before !== null && (await askGit(place, ['cat-file', '-e', `${head_before}^{commit}`])).code === 0;
  const since = new Date(Date.parse(intent.at) - CLOCK_SLACK_MS).toISOString();
  const text = await askGitSurely(place, [
    'log',
    '-z',
    '--format=%H%n%P%n%s%n%B',
    '--fixed-strings',
    `--grep=${trailer}`,
    `--since=${since}`,
    '--all',
    '--reflog',
    ...(known ? [`^${head_before}`] : []),
  ]);
  return text
    .split('\0')
    .filter((record) => record.split('\n').slice(3).includes(trailer))
    .map(readCommit)
    .at(-1);
}

/** A commit by its name, or undefined. */
export async function commitAt(place: GitPlace, name: string): Promise<FoundCommit | undefined> {
  const { code, stdout } = await askGit(place, ['log', '-1', '--format=%H%n%P%n%s', name]);
  return code === 0 ? readCommit(stdout) : undefined;
}

/** How much is changed, and each path with its letter. */
export async function contentOf(place: GitPlace, sha: string): Promise<{ summary: string; paths: string[] }> {
  const show = [
    'show',
    '--first-parent',
    '-m',
    '--format=',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
  ];
  const summary = await askGitSurely(place, [...show, '--shortstat', sha]);
  const fields = (await askGitSurely(place, [...show, '--name-status', '-z', sha])).split('\0');
  const paths: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2)
    paths.push(`${fields[at]} ${shownPath(fields[at + 1] ?? '')}`);
  return { summary: summary.trim(), paths };
}

function readCommit(text: string): FoundCommit {
  const [sha = '', parents = '', subject = ''] = text.split('\n');
  const [parent = ''] = parents.split(' ');
  return { sha, parent: parent === '' ? null : parent, subject: shownPath(subject) };
}
