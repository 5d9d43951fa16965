/** "Did you mean …" for a path that is not there. */
import { readdir } from 'node:fs/promises';
import { dirname, relative, sep } from 'node:path';
import type { WorkspacePath } from './paths.ts';

const NAMES_MAX = 5;
const NAMES_LOOKED_AT_MAX = 5_000;

/** A sentence about what is missing, with the nearest names in the first folder of the path that exists. */
export async function describeMissing(workspace: string, path: WorkspacePath): Promise<string> {
  let missing = path.absolute;
  let names = await namesIn(dirname(missing));
  while (names === undefined && dirname(missing) !== workspace && missing !== workspace) {
    missing = dirname(missing);
    names = await namesIn(dirname(missing));
  }
  const folder = relative(workspace, dirname(missing)).split(sep).join('/') || '.';
  const name = missing.slice(dirname(missing).length).replaceAll(sep, '');
  const near = nearest(name, names ?? []).map((found) => (folder === '.' ? found : `${folder}/${found}`));
  const hint = near.length > 0 ? `Near names: ${near.join(', ')}.` : `See what is there with list_files.`;
  return `${path.relative} does not exist: the folder ${folder} has no ${name}. ${hint}`;
}

async function namesIn(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).slice(0, NAMES_LOOKED_AT_MAX);
  } catch {
    return undefined;
  }
}

function nearest(name: string, names: string[]): string[] {
  const wanted = name.toLowerCase();
  const tolerance = Math.max(2, Math.floor(wanted.length / 3));
  return names
    .filter(
      (found) => found.length - wanted.length <= tolerance || found.toLowerCase().startsWith(stemOf(wanted)),
    )
    .map((found) => ({ found, distance: distanceOf(wanted, found.toLowerCase()) }))
    .filter(({ distance }) => distance <= tolerance)
    .toSorted((a, b) => a.distance - b.distance || (a.found < b.found ? -1 : 1))
    .slice(0, NAMES_MAX)
    .map(({ found }) => found);
}

/** One name inside of the other (another extension, a suffix) is near too. */
function distanceOf(wanted: string, found: string): number {
  const stem = stemOf(wanted);
  if (stem.length > 2 && found.startsWith(stem)) return 1;
  return levenshtein(wanted, found);
}

function stemOf(name: string): string {
  return name.replace(/\.[^.]*$/, '');
}

function levenshtein(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const swap = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(swap, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
