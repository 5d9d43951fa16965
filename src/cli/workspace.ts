/** The folder that a session works in, as it is really called. */
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { workspaceNotFound } from '../client/errors.ts';
import { hasCode } from '../host/files.ts';

/** The real path of `given`, or of the current folder. Rejects with exit code 5 when it is no folder. */
export async function workspaceAt(given: string | undefined): Promise<string> {
  const path = given === undefined ? currentFolder() : resolve(given);
  try {
    if ((await stat(path)).isDirectory()) return await realpath(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR')) throw error;
    throw workspaceNotFound(path, 'nothing');
  }
  throw workspaceNotFound(path, 'a file');
}

/** The current folder may have been deleted. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw workspaceNotFound(process.env['PWD'] ?? 'the current folder', 'nothing');
  }
}
