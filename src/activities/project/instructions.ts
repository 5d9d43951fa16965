/** AGENTS.md (https://agents.md), as coding agents read it. */
import { join } from 'node:path';
import type { Instructions } from '../../domain/event.ts';
import { INSTRUCTIONS_MAX_BYTES } from '../../domain/limits.ts';
import { readBeginning } from './beginning.ts';

/** In each folder the first of these that is there; the other one is not read. */
const FILES = ['AGENTS.override.md', 'AGENTS.md'];

/** One file of each folder, in the order of the folders, of which the workspace is the last. */
export async function readInstructions(folders: string[]): Promise<Instructions[]> {
  const workspace = folders.at(-1);
  const files: Instructions[] = [];
  let left_bytes = INSTRUCTIONS_MAX_BYTES;
  // The nearest matters most, so it is the last to be cut.
  for (const folder of folders.toReversed()) {
    const found = await readOne(folder, folder === workspace, left_bytes);
    if (found === undefined) continue;
    left_bytes -= Buffer.byteLength(found.text);
    files.unshift(found);
  }
  return files;
}

async function readOne(folder: string, own: boolean, limit_bytes: number): Promise<Instructions | undefined> {
  for (const name of FILES) {
    const read = await readBeginning(join(folder, name), limit_bytes);
    if (read === undefined) continue;
    const path = own ? name : join(folder, name);
    return { path, text: read.text, ...(read.cut ? { cut_from_bytes: read.bytes } : {}) };
  }
  return undefined;
}
