/** AGENTS.md (https://agents.md), as coding agents read it. */
import { join } from 'node:path';
import type { Instructions, ProjectProblem } from '../../domain/event.ts';
import { INSTRUCTION_FILES_MAX, INSTRUCTIONS_MAX_BYTES } from '../../domain/limits.ts';
import { readBeginning } from './beginning.ts';
import type { Beginning } from './beginning.ts';

/** In each folder the first of these that can be read; the other one is not read. */
const FILES = ['AGENTS.override.md', 'AGENTS.md'];

export interface FoundInstructions {
  instructions: Instructions[];
  problems: ProjectProblem[];
}

/** One file of each folder, in the order of the folders, of which the workspace is the last. */
export async function readInstructions(folders: string[]): Promise<FoundInstructions> {
  const [root = '', workspace = ''] = [folders[0], folders.at(-1)];
  const found: FoundInstructions = { instructions: [], problems: [] };
  const seen = new Set<string>();
  let left_bytes = INSTRUCTIONS_MAX_BYTES;
  // The nearest matters most, so it is the last to be cut.
  for (const folder of folders.toReversed()) {
    const own = folder === workspace;
    const file = await readOne(folder, { own, root, limit_bytes: left_bytes }, found.problems);
    // A folder may link to the file of another one, which need not be said twice; nor need nothing be said.
    if (file === undefined || seen.has(file.real) || (!file.cut && file.text.trim() === '')) continue;
    const { path, text, cut, bytes, real } = file;
    if (found.instructions.length === INSTRUCTION_FILES_MAX) {
      found.problems.push({ path, problem: `not read: ${INSTRUCTION_FILES_MAX} such files are the limit` });
      break;
    }
    seen.add(real);
    left_bytes -= Buffer.byteLength(text);
    found.instructions.unshift({ path, text, ...(cut ? { cut_from_bytes: bytes } : {}) });
  }
  return found;
}

async function readOne(
  folder: string,
  { own, ...options }: { own: boolean; root: string; limit_bytes: number },
  problems: ProjectProblem[],
): Promise<(Beginning & { path: string }) | undefined> {
  for (const name of FILES) {
    const read = await readBeginning(join(folder, name), options);
    if (read === undefined) continue;
    const path = own ? name : join(folder, name);
    if (!('problem' in read)) return { ...read, path };
    problems.push({ path, problem: read.problem });
  }
  return undefined;
}
