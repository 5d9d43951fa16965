/** The repository that a workspace is in, as it is at this moment. */
import { stat } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { hasCode } from '../../host/files.ts';
import { Refusal } from '../workspace/refusal.ts';
import { askGit, askGitSurely, shownPath, type GitPlace } from './git.ts';

export interface Repository {
  /** Absolute path of the working tree, which holds the workspace. */
  top: string;
  /** Absolute path of this working tree's git folder. */
  git_dir: string;
  /** The workspace below `top`, with `/` at the end; empty when it is `top`. */
  prefix: string;
  /** Sha of the commit; null when there is none yet. */
  head: string | null;
  /** Short name; null when HEAD is detached. */
  branch: string | null;
}

/** What git has begun and not finished. */
export interface Unfinished {
  what: 'merge' | 'rebase' | 'cherry-pick' | 'revert' | 'bisect';
  /** What to run to end it. */
  next: string;
}

const MARKS: [string, Unfinished['what']][] = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
];

/** Rejects with Refusal when the workspace is in no working tree, or git will not say. */
export async function findRepository(workspace: GitPlace): Promise<Repository> {
  const args = ['rev-parse', '--show-toplevel', '--absolute-git-dir'];
  const { code, stdout, stderr } = await askGit(workspace, args);
  if (code !== 0) throw new Refusal(noRepository(workspace.cwd, stderr));
  const [top = '', git_dir = ''] = stdout.split('\n').map((line) => Buffer.from(line, 'latin1').toString());
  const below = relative(top, workspace.cwd);
  if (below === '..' || below.startsWith('../') || isAbsolute(below))
    throw new Refusal(
      `Expected a working tree that holds the workspace ${workspace.cwd}, found ${top} (core.worktree).`,
    );
  return { top, git_dir, prefix: below === '' ? '' : `${below}/`, ...(await readHead(workspace)) };
}

/** Where HEAD is. */
export async function readHead(place: GitPlace): Promise<Pick<Repository, 'head' | 'branch'>> {
  const [sha, ref] = await Promise.all([
    askGit(place, ['rev-parse', '--quiet', '--verify', 'HEAD^{commit}']),
    askGit(place, ['symbolic-ref', '--quiet', '--short', 'HEAD']),
  ]);
  return {
    head: sha.code === 0 ? sha.stdout.trim() : null,
    branch: ref.code === 0 ? shownPath(ref.stdout.trim()) : null,
  };
}

/** `branch main`, `no branch (HEAD is detached)`. */
export function branchWords(branch: string | null): string {
  return branch === null ? 'no branch (HEAD is detached)' : `branch ${branch}`;
}

export function headWords(head: string | null): string {
  return head ?? 'unborn (no commit yet)';
}

/** What is under way, or undefined. */
export async function unfinished({ git_dir }: Repository): Promise<Unfinished | undefined> {
  for (const [name, what] of MARKS) {
    if ((await modifiedAt(join(git_dir, name))) === undefined) continue;
    const next = what === 'bisect' ? 'git bisect reset' : `git ${what} --continue, or git ${what} --abort`;
    return { what, next };
  }
  return undefined;
}

/** Words about an index.lock, which a killed git leaves behind and a living one holds; undefined: none. */
export async function lockWords({ git_dir }: Pick<Repository, 'git_dir'>): Promise<string | undefined> {
  const path = join(git_dir, 'index.lock');
  const at = await modifiedAt(path);
  if (at === undefined) return undefined;
  return `There is a lock, ${path}, since ${at.toISOString()}: a git process holds it, or one that was killed left it behind. Holdfast does not delete it; when no git runs in this repository, delete the file.`;
}

/** The tree of a commit; undefined when it can't be said. */
export async function treeOf(place: GitPlace, commit: string): Promise<string | undefined> {
  const { code, stdout } = await askGit(place, ['rev-parse', '--quiet', '--verify', `${commit}^{tree}`]);
  return code === 0 ? stdout.trim() : undefined;
}

/** The author and the committer that git would write. Rejects with Refusal when it has none. */
export async function checkIdentity(place: GitPlace): Promise<void> {
  for (const name of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) {
    const { code, stderr } = await askGit(place, ['var', name]);
    if (code === 0) continue;
    const why = stderr.split('\n').at(-1) ?? '';
    throw new Refusal(
      `Nothing was committed: git does not know who commits (${why}). The user has to say it: git config user.name "…" and git config user.email "…" in the workspace, or with --global.`,
    );
  }
}

/** Whether commits are signed here. */
export async function signsCommits(place: GitPlace): Promise<boolean> {
  const { stdout } = await askGit(place, ['config', '--type=bool', 'commit.gpgsign']);
  return stdout.trim() === 'true';
}

/** The tree that the index holds; undefined when it can't be said (a conflict, a lock). */
export async function indexTree(place: GitPlace): Promise<string | undefined> {
  const { code, stdout } = await askGit(place, ['write-tree']);
  return code === 0 ? stdout.trim() : undefined;
}

/** The message with the trailer, where git would put it. */
export async function withTrailer(place: GitPlace, message: string, trailer: string): Promise<Buffer> {
  // A message may have a line `#12`, which is no comment here: so nothing is one.
  const config = ['-c', 'core.commentChar=\u0001'];
  const args = [...config, 'interpret-trailers', '--no-divider', '--trailer', trailer];
  const text = message.endsWith('\n') ? message : `${message}\n`;
  return Buffer.from(await askGitSurely(place, args, text), 'latin1');
}

function noRepository(workspace: string, stderr: string): string {
  if (stderr.includes('not a git repository'))
    return `Expected a git repository, found none at ${workspace} or above. If there should be one, make it with \`git init\` in bash.`;
  return `Expected a git repository with a working tree at ${workspace}; git says: ${stderr}`;
}

async function modifiedAt(path: string): Promise<Date | undefined> {
  try {
    return (await stat(path)).mtime;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}
