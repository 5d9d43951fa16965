/**
 * Skills (https://agentskills.io): a folder with a SKILL.md that says in its front matter what it is good for.
 * The model is told name and description; it reads the body when it needs it.
 */
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { ProjectProblem, Skill } from '../../domain/event.ts';
import { SKILL_DESCRIPTION_MAX_CHARS, SKILLS_MAX } from '../../domain/limits.ts';
import { hasCode } from '../../host/files.ts';
import { isInside, readBeginning, problemOf } from './beginning.ts';
import { frontMatterOf } from './frontMatter.ts';

const FOLDER = join('.agents', 'skills');
const FILE = 'SKILL.md';
/** Front matter that is longer than this is none. */
const FRONT_MATTER_MAX_BYTES = 16 * 1024;
/** Entries of one `.agents/skills` that are looked at. */
const ENTRIES_MAX = 512;

export interface FoundSkills {
  skills: Skill[];
  problems: ProjectProblem[];
}

/** The skills of these folders, of which the workspace is the last: its own first, and by name of their folder. */
export async function readSkills(folders: string[]): Promise<FoundSkills> {
  const [root = '', workspace = ''] = [folders[0], folders.at(-1)];
  const catalogue = new Catalogue();
  for (const folder of folders.toReversed()) {
    const skills = join(folder, FOLDER);
    for (const name of await entriesOf(skills, workspace, catalogue)) {
      const path = join(skills, name, FILE);
      const read = await readBeginning(path, { root, limit_bytes: FRONT_MATTER_MAX_BYTES });
      if (read === undefined) continue;
      // Where a link leads out of the workspace, its tools know the file by its real place alone.
      const place = 'real' in read && !isInside(workspace, read.real) ? read.real : path;
      if (!catalogue.add(toldPath(place, workspace), read)) return catalogue;
    }
  }
  return catalogue;
}

async function entriesOf(skills: string, workspace: string, { problems }: Catalogue): Promise<string[]> {
  const path = toldPath(skills, workspace);
  try {
    const names: string[] = await readdir(skills);
    if (names.length > ENTRIES_MAX)
      problems.push({ path, problem: `has ${names.length} entries, of which ${ENTRIES_MAX} are looked at` });
    return names.toSorted().slice(0, ENTRIES_MAX);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    problems.push({ path, problem: hasCode(error, 'ENOTDIR') ? 'no folder' : problemOf(error) });
    return [];
  }
}

/** Relative to the workspace, with `/`; absolute where it lies outside. */
function toldPath(path: string, workspace: string): string {
  return isInside(workspace, path) ? relative(workspace, path).split(sep).join('/') : path;
}

/** Each skill once, by its name. */
class Catalogue implements FoundSkills {
  readonly skills: Skill[] = [];
  readonly problems: ProjectProblem[] = [];
  readonly #files = new Set<string>();
  readonly #byName = new Map<string, string>();

  /** False when no more are taken. */
  add(path: string, read: { problem: string } | { text: string; real: string }): boolean {
    const skill = 'problem' in read ? read : this.#skillOf(read);
    if (skill === undefined) return true;
    if ('problem' in skill) {
      this.problems.push({ path, problem: skill.problem });
      return true;
    }
    if (this.skills.length === SKILLS_MAX) {
      this.problems.push({ path, problem: `not told: ${SKILLS_MAX} skills are the limit` });
      return false;
    }
    this.#byName.set(skill.name, path);
    this.skills.push({ ...skill, path });
    return true;
  }

  /** Undefined for a file that was here before: a folder may link to another. */
  #skillOf({
    text,
    real,
  }: {
    text: string;
    real: string;
  }): Omit<Skill, 'path'> | { problem: string } | undefined {
    if (this.#files.has(real)) return undefined;
    this.#files.add(real);
    const found = frontMatterOf(text);
    if ('problem' in found) return found;
    const [name, description] = [oneLine(found.name), oneLine(found.description)];
    if (name === '' || description === '')
      return { problem: 'its front matter has an empty name or description' };
    const first = this.#byName.get(name);
    if (first === undefined) return { name, description };
    return { problem: `has the name of ${first}, which is the one that counts` };
  }
}

function oneLine(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  const clipped =
    line.length > SKILL_DESCRIPTION_MAX_CHARS ? `${line.slice(0, SKILL_DESCRIPTION_MAX_CHARS - 1)}…` : line;
  return clipped.toWellFormed();
}
