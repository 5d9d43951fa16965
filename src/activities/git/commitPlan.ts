/**
 * What a commit is going to be: its preconditions checked, its files chosen. Nothing is changed here, but for
 * the tree object of what is staged, which the commit will need anyway.
 */
import { existsSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { targetLine, count } from '../tools/wording.ts';
import { Refusal } from '../workspace/refusal.ts';
import type { CommandPlan } from '../runner/proofs.ts';
import { shownPath, type GitPlace } from './git.ts';
import {
  branchWords,
  checkIdentity,
  findRepository,
  headWords,
  indexTree,
  lockWords,
  unfinished,
  type Repository,
} from './repository.ts';
import { readStatus, type ChangedPath } from './status.ts';

export const TRAILER = 'Holdfast-Operation';

export interface CommitArgs {
  message: string;
  paths?: string[] | undefined;
  expected_head?: string | undefined;
}

/** The plan in a commit's intent. `cwd` is the top of the working tree. */
export interface CommitPlan extends CommandPlan {
  git_dir: string;
  head_before: string | null;
  branch: string | null;
  /** What is in the index, where that is what will be committed. */
  tree: string | null;
}

/** A commit that may be made. Paths are relative to the top, one character for each byte. */
export interface CheckedCommit {
  repository: Repository;
  tree: string | null;
  /** Undefined: what is staged. */
  paths?: string[];
  /** Those of them that git does not know yet. */
  untracked: string[];
}

const PATHS_NAMED = 30;

/** Rejects with Refusal when this commit must not, or can't, be made. */
export async function checkCommit(args: CommitArgs, workspace: GitPlace): Promise<CheckedCommit> {
  const repository = await findRepository(workspace);
  checkHead(args.expected_head, repository);
  const lock = await lockWords(repository);
  if (lock !== undefined) throw new Refusal(`Nothing was committed. ${lock}`);
  await checkIdentity(workspace);
  const { paths } = await readStatus(workspace, { untracked: 'no', renames: false });
  checkConflicts(paths, repository);
  const under_way = await unfinished(repository);
  if (args.paths === undefined) {
    if (under_way?.what !== 'merge') await checkStaged(paths, repository, workspace);
    return { repository, tree: (await indexTree(workspace)) ?? null, untracked: [] };
  }
  if (under_way !== undefined && under_way.what !== 'rebase' && under_way.what !== 'bisect') {
    throw new Refusal(
      `Nothing was committed: a ${under_way.what} is in progress, and git can't commit a part of it. Stage all that belongs to it and call git_commit without paths, or run ${under_way.next}.`,
    );
  }
  return { repository, tree: null, ...(await choosePaths(args.paths, repository, workspace)) };
}

function checkHead(expected: string | undefined, { head, branch }: Repository): void {
  if (expected === undefined || head?.startsWith(expected.toLowerCase())) return;
  throw new Refusal(
    `Nothing was committed: expected HEAD ${expected}, found ${headWords(head)} on ${branchWords(branch)}. Somebody else has committed, reset or switched; look with git_status and \`git log\`, then decide.`,
  );
}

function checkConflicts(paths: ChangedPath[], { prefix }: Repository): void {
  const conflicts = paths.filter(({ kind }) => kind === 'conflict');
  if (conflicts.length === 0) return;
  throw new Refusal(
    `Nothing was committed: ${count(conflicts.length, 'file')} with conflicts:${named(conflicts, prefix)}\nSolve them and stage the files with \`git add\`.`,
  );
}

/** Something is staged, and all of it is the workspace's. */
async function checkStaged(paths: ChangedPath[], repository: Repository, workspace: GitPlace): Promise<void> {
  const { prefix } = repository;
  const staged = paths.filter((path) => path.staged !== '.');
  const others = staged.filter(({ raw }) => !shownPath(raw).startsWith(prefix));
  if (others.length > 0) {
    throw new Refusal(
      `Nothing was committed: ${count(others.length, 'staged file')} outside of the workspace would be committed too:${named(others, '')}\nName the files of the workspace in paths, or unstage the others.`,
    );
  }
  if (staged.length > 0) return;
  const changed = await readStatus(workspace, { untracked: 'normal', renames: false, paths: ['.'] });
  throw new Refusal(
    changed.paths.length === 0
      ? 'Nothing was committed: nothing is staged, and nothing in the workspace is changed.'
      : `Nothing was committed: nothing is staged. Name what is to be committed in paths. Changed:${named(changed.paths, prefix)}`,
  );
}

async function choosePaths(
  paths: string[],
  repository: Repository,
  workspace: GitPlace,
): Promise<Pick<CheckedCommit, 'paths' | 'untracked'>> {
  const wanted = paths.map((path) => relativePath(path, workspace.cwd));
  const chosen = (await readStatus(workspace, { untracked: 'all', renames: false, paths: wanted })).paths;
  for (const below of wanted) {
    if (!chosen.some(({ raw }) => isIn(shownPath(raw), repository.prefix, below)))
      throw new Refusal(nothingIn(below, resolve(workspace.cwd, below)));
  }
  const nested = chosen.filter(({ raw }) => raw.endsWith('/'));
  if (nested.length > 0) {
    throw new Refusal(
      `Nothing was committed: there are repositories of their own in these paths:${named(nested, repository.prefix)}\nLeave them out, or add them as submodules with bash.`,
    );
  }
  const untracked = chosen.filter(({ kind }) => kind === 'untracked').map(({ raw }) => raw);
  return { paths: chosen.map(({ raw }) => raw), untracked };
}

/** Whether a path of the repository is `below` of the workspace, or in that folder. */
function isIn(path: string, prefix: string, below: string): boolean {
  if (below === '.') return path.startsWith(prefix);
  return path === prefix + below || path.startsWith(`${prefix}${below}/`);
}

/** Lexically: a symbolic link is committed itself, never what it leads to. */
function relativePath(path: string, workspace: string): string {
  const below = relative(workspace, resolve(workspace, path));
  if (below !== '..' && !below.startsWith('../') && !isAbsolute(below)) return below === '' ? '.' : below;
  throw new Refusal(`Nothing was committed: ${targetLine(path)} is outside of the workspace.`);
}

function nothingIn(path: string, absolute: string): string {
  const why = existsSync(absolute)
    ? 'it is unchanged since HEAD, or ignored by a .gitignore'
    : 'there is no such file, neither here nor in HEAD';
  return `Nothing was committed: expected a change in ${targetLine(path)}, found none: ${why}. Call again without it.`;
}

function named(paths: ChangedPath[], prefix: string): string {
  const lines = paths.slice(0, PATHS_NAMED).map(({ raw }) => {
    const shown = shownPath(raw);
    return `\n- ${targetLine(shown.startsWith(prefix) ? shown.slice(prefix.length) : shown)}`;
  });
  const more = paths.length - lines.length;
  return lines.join('') + (more > 0 ? `\nand ${more} more` : '');
}
