/** What the workspace says about itself, read on its host when a run starts. */
import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Instructions, ProjectFacts, WorkspaceBinding } from '../domain/event.ts';
import { INSTRUCTIONS_MAX_BYTES } from '../domain/limits.ts';
import { hasCode } from '../host/files.ts';
import { existingFolder } from './runTool.ts';

const INSTRUCTIONS_FILE = 'AGENTS.md';

/** The activity `loadProject`. */
export async function loadProject(input: { workspace: WorkspaceBinding }): Promise<ProjectFacts> {
  const workspace = await existingFolder(input.workspace.path);
  const facts = {
    instructions: await readInstructions(workspace),
    date: localDate(),
    platform: `${process.platform} ${process.arch}`,
  };
  return { digest: createHash('sha256').update(JSON.stringify(facts)).digest('hex'), ...facts };
}

/**
 * AGENTS.md of each folder from the repository's root down to the workspace, the nearest last
 * (https://agents.md). Outside of a repository the workspace's own alone.
 */
async function readInstructions(workspace: string): Promise<Instructions[]> {
  const folders = await foldersDownTo(workspace);
  const files: Instructions[] = [];
  let left = INSTRUCTIONS_MAX_BYTES;
  // The nearest matters most, so it is the last to be cut.
  for (const folder of folders.toReversed()) {
    const path = join(folder, INSTRUCTIONS_FILE);
    const read = await readBeginning(path, left);
    if (read === undefined) continue;
    left -= Buffer.byteLength(read.text);
    const name = folder === workspace ? INSTRUCTIONS_FILE : path;
    files.unshift({ path: name, text: read.text, ...(read.cut ? { cut_from_bytes: read.bytes } : {}) });
  }
  return files;
}

async function foldersDownTo(workspace: string): Promise<string[]> {
  const folders = [workspace];
  for (let folder = workspace; ; folder = dirname(folder)) {
    if (folder !== workspace) folders.unshift(folder);
    if (await exists(join(folder, '.git'))) return folders;
    if (dirname(folder) === folder) return [workspace];
  }
}

async function readBeginning(
  path: string,
  limit_bytes: number,
): Promise<{ text: string; bytes: number; cut: boolean } | undefined> {
  try {
    const info = await stat(path);
    if (!info.isFile()) return undefined;
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(info.size, limit_bytes)), 0);
      const whole = decode(buffer.subarray(0, bytesRead), info.size > limit_bytes);
      // What is no text became longer by its replacement.
      const text = decode(
        Buffer.from(whole).subarray(0, limit_bytes),
        Buffer.byteLength(whole) > limit_bytes,
      );
      return { text, bytes: info.size, cut: info.size > limit_bytes || text !== whole };
    } finally {
      await file.close();
    }
  } catch (error) {
    // Not there, or not for us to read: the work does not depend on it.
    if (NOT_READABLE.some((code) => hasCode(error, code))) return undefined;
    throw error;
  }
}

/** EPERM: a folder that macOS keeps from programs; ELOOP: a link to itself. */
const NOT_READABLE = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP'];

/** Text without NUL; of text that goes on, a character that is cut in two is left out. */
function decode(bytes: Uint8Array, goesOn: boolean): string {
  return new TextDecoder().decode(bytes, { stream: goesOn }).replaceAll('\0', '\uFFFD');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function localDate(): string {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}
