/**
 * Which file a path of the model means. Symbolic links are followed part by part, as the kernel does, so that
 * a link, a linked parent or a dangling link can't lead outside of the workspace, also where the end of the
 * path does not exist yet.
 */
import { readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { hasCode } from '../../host/files.ts';
import { Refusal, refusalOf } from './refusal.ts';

/** A place inside of the workspace. */
export interface WorkspacePath {
  /** Without symbolic links. */
  absolute: string;
  /** Relative to the workspace's root, with `/`; `.` for the root itself. */
  relative: string;
}

/** As many links as Linux follows (path_resolution(7)). */
const LINKS_MAX = 40;

/** Resolves a path that is relative to the workspace, or absolute inside of it. Throws Refusal otherwise. */
export async function resolveInWorkspace(workspace: string, given: string): Promise<WorkspacePath> {
  if (given === '' || given.includes('\0'))
    throw new Refusal(`Expected a path, found ${JSON.stringify(given)}. Give one relative to the workspace.`);
  const absolute = await followLinks(workspace, given);
  if (!isInside(workspace, absolute)) {
    throw new Refusal(
      `${given} leads outside of the workspace, to ${absolute}. Only files inside of it can be used: ` +
        `give a path relative to the workspace's root.`,
    );
  }
  return { absolute, relative: relative(workspace, absolute).split(sep).join('/') || '.' };
}

/** The same for a path that is to be written: the inside of `.git` is git's own. */
export async function resolveForWriting(workspace: string, given: string): Promise<WorkspacePath> {
  if (given.endsWith('/')) throw new Refusal(`${given} names a folder. Give the path of a file.`);
  const path = await resolveInWorkspace(workspace, given);
  if (path.relative === '.') throw new Refusal(`${given} is the workspace's root. Give the path of a file.`);
  // Any case: on macOS `.GIT` is the same folder.
  if (path.relative.split('/').some((part) => part.toLowerCase() === '.git')) {
    throw new Refusal(
      `${path.relative} is inside of .git, which may be read but not written. Use git itself to change it.`,
    );
  }
  return path;
}

async function followLinks(workspace: string, given: string): Promise<string> {
  let current = isAbsolute(given) ? sep : workspace;
  const pending = given.split(sep);
  let links = 0;
  for (let part = pending.shift(); part !== undefined; part = pending.shift()) {
    const next = join(current, part);
    const target = part === '' || part === '.' || part === '..' ? undefined : await linkTarget(next, given);
    if (target === undefined) {
      current = next;
      continue;
    }
    links += 1;
    if (links > LINKS_MAX) throw new Refusal(`${given} has symbolic links that lead in a circle.`);
    if (isAbsolute(target)) current = sep;
    pending.unshift(...target.split(sep));
  }
  return current;
}

/** Undefined for what is no link, or is not there. */
async function linkTarget(path: string, given: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (hasCode(error, 'EINVAL') || hasCode(error, 'ENOENT')) return undefined;
    throw refusalOf(error, given);
  }
}

function isInside(workspace: string, absolute: string): boolean {
  return absolute === workspace || absolute.startsWith(workspace.endsWith(sep) ? workspace : workspace + sep);
}

/** The nearest folder above `absolute` that exists. */
export async function nearestFolder(
  absolute: string,
  exists: (path: string) => Promise<boolean>,
): Promise<string> {
  let folder = dirname(absolute);
  while (folder !== dirname(folder) && !(await exists(folder))) folder = dirname(folder);
  return folder;
}
