/** The folders whose words count in a workspace: from the repository's root down to it. */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The nearest last. Outside of a repository the workspace alone. */
export async function foldersDownTo(workspace: string): Promise<string[]> {
  const folders = [workspace];
  for (let folder = workspace; ; folder = dirname(folder)) {
    if (folder !== workspace) folders.unshift(folder);
    if (await exists(join(folder, '.git'))) return folders;
    if (dirname(folder) === folder) return [workspace];
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
