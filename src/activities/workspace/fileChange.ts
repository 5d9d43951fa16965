/**
 * One change of one file as three moves that a kill can only fall between: stage, apply, discard. The staged
 * thing lies beside its target, so that taking it is one atomic rename; whoever removes it first has made
 * the change impossible. That is what fences a worker that was frozen and wakes up late.
 *
 *   write   the new content in a staged file, renamed over the target
 *   delete  a staged empty folder, into which the target is renamed: while it is there the deletion can
 *           happen, once it is removed it can't, and it can't be removed after the deletion has happened
 */
import { chmod, chown, lstat, mkdir, open, rename, rm, rmdir, unlink } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fsyncPath, hasCode } from '../../host/files.ts';
import { nearestFolder, type WorkspacePath } from './paths.ts';
import { lookAt } from './regularFile.ts';
import { Refusal } from './refusal.ts';

/** Names of staged things, for the tools that list files: a glob as ripgrep reads it. */
export const STAGED_GLOB = '.holdfast-*.tmp';

/** As it stands in the intent. Paths are relative to the workspace. */
export interface FileChange {
  path: string;
  /** sha256 of the bytes before and after; null: no file. */
  before: string | null;
  after: string | null;
  /** Permission bits of the file that is there after; null: as the umask has it. */
  mode: number | null;
  staged: string;
}

/** What a tool wants: `content` null deletes. */
export interface WantedChange {
  path: WorkspacePath;
  before: string | null;
  after: string | null;
  content: Buffer | null;
  /** Of the file whose mode and owner are kept. */
  like: Stats | null;
}

/** `gone`: the staged thing was taken by somebody else, so the change is not ours any more. */
export type Applied = 'applied' | 'gone';

const NEW_FILE_MODE = 0o666;
const PERMISSION_BITS = 0o7777;
const TRASHED_NAME = 'deleted';

/** The change with the place where it is staged: the target's folder, or the nearest one that exists. */
export async function placeChange(
  workspace: string,
  wanted: WantedChange,
  name: string,
): Promise<FileChange> {
  const folder = await nearestFolder(wanted.path.absolute, isThere);
  return {
    path: wanted.path.relative,
    before: wanted.before,
    after: wanted.after,
    mode: wanted.like ? wanted.like.mode & PERMISSION_BITS : null,
    staged: relative(workspace, join(folder, `.holdfast-${name}.tmp`)),
  };
}

/** Makes the change possible, durably, without any effect. */
export async function stage(workspace: string, change: FileChange, wanted: WantedChange): Promise<void> {
  const staged = join(workspace, change.staged);
  if (wanted.content === null) {
    await mkdir(staged);
    return;
  }
  const file = await open(staged, 'wx', wanted.like ? 0o600 : NEW_FILE_MODE);
  try {
    await file.writeFile(wanted.content);
    if (wanted.like) await keepOwnerAndMode(staged, wanted.like);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the change, in one rename. Safe to do twice, by anybody: the second finds nothing staged. */
export async function apply(workspace: string, change: FileChange): Promise<Applied> {
  const target = join(workspace, change.path);
  const staged = join(workspace, change.staged);
  if (change.after === null) return moveAway(target, staged);
  const made = await mkdir(dirname(target), { recursive: true });
  try {
    await rename(staged, target);
  } catch (error) {
    if (made) await removeEmptyFolders(dirname(target), made);
    if (hasCode(error, 'ENOENT') && !(await isThere(staged))) return 'gone';
    throw error;
  }
  await fsyncPath(dirname(target));
  if (made) await fsyncPath(dirname(made));
  return 'applied';
}

/**
 * Makes the change impossible. Returns true when it had not happened and now can't, false when the staged
 * thing was not there to be taken: the change has happened, or was discarded before.
 */
export async function discard(workspace: string, change: FileChange): Promise<boolean> {
  const staged = join(workspace, change.staged);
  try {
    await (change.after === null ? rmdir(staged) : unlink(staged));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return false;
    if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'EEXIST')) throw error;
    return false;
  }
}

/** Removes what a finished deletion has left. */
export async function sweep(workspace: string, change: FileChange): Promise<void> {
  if (change.after === null) await rm(join(workspace, change.staged), { recursive: true, force: true });
}

/** Whether the change can still be applied. */
export async function isStaged(workspace: string, change: FileChange): Promise<boolean> {
  return isThere(join(workspace, change.staged));
}

/** The target's version now; null for no file, and a word for what is no regular file. */
export async function versionNow(workspace: string, change: FileChange): Promise<string | null> {
  try {
    const now = await lookAt({ absolute: join(workspace, change.path), relative: change.path });
    return now?.version ?? null;
  } catch (error) {
    if (error instanceof Refusal) return `unreadable (${error.message})`;
    throw error;
  }
}

async function moveAway(target: string, staged: string): Promise<Applied> {
  try {
    await rename(target, join(staged, TRASHED_NAME));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    if (!(await isThere(staged)) || (await isThere(join(staged, TRASHED_NAME)))) return 'gone';
    // The target itself is not there: what was wanted is so.
  }
  await fsyncPath(dirname(target));
  await rm(staged, { recursive: true, force: true });
  return 'applied';
}

/** Owner first: changing it clears the set-id bits. Only root may give a file away; for others it stays theirs. */
async function keepOwnerAndMode(staged: string, like: Stats): Promise<void> {
  try {
    await chown(staged, like.uid, like.gid);
  } catch (error) {
    if (!hasCode(error, 'EPERM') && !hasCode(error, 'EINVAL')) throw error;
  }
  await chmod(staged, like.mode & PERMISSION_BITS);
}

async function removeEmptyFolders(from: string, last: string): Promise<void> {
  for (let folder = from; folder.startsWith(last); folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      return;
    }
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return false;
    throw error;
  }
}
