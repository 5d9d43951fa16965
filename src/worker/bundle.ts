/**
 * The workflow code that a worker runs: prebuilt in the published package, so that a worker starts in under
 * a second; in a checkout built when the sources changed and kept by their hash.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFileAtomic } from '../host/files.ts';

const SOURCE_FOLDERS = ['domain', 'workflows'];

/** The path of a bundle of this code. */
export async function workflowBundle(): Promise<string> {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const prebuilt = join(root, 'workflow-bundle.js');
  if (await isFile(prebuilt)) return prebuilt;
  const cached = join(
    dirname(root),
    'node_modules',
    '.cache',
    'holdfast',
    `workflows-${await hashOf(root)}.js`,
  );
  if (!(await isFile(cached))) await buildBundle(join(root, 'workflows', 'index.ts'), cached);
  return cached;
}

/** Bundles the workflows that `entry` exports into the file `target`. Takes about three seconds. */
export async function buildBundle(entry: string, target: string): Promise<void> {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({ workflowsPath: entry, logger: new DefaultLogger('WARN') });
  await mkdir(dirname(target), { recursive: true });
  await writeFileAtomic(target, code, 0o644);
}

async function hashOf(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const folder of SOURCE_FOLDERS) {
    for (const name of (await readdir(join(root, folder))).toSorted()) {
      hash.update(`${folder}/${name}\0`).update(await readFile(join(root, folder, name)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isFile(),
    () => false,
  );
}
