/**
 * Skills (https://agentskills.io): a folder with a SKILL.md that says in its front matter what it is good for.
 * The model is told name and description; it reads the body with read_file when it needs it.
 */
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parse } from 'yaml';
import type { Skill } from '../../domain/event.ts';
import { SKILL_DESCRIPTION_MAX_CHARS, SKILLS_MAX } from '../../domain/limits.ts';
import { readBeginning } from './beginning.ts';

const FOLDER = join('.agents', 'skills');
const FILE = 'SKILL.md';
/** Front matter that is longer than this is none. */
const FRONT_MATTER_MAX_BYTES = 16 * 1024;

/** The skills of the workspace, by name. What has no readable front matter is no skill. */
export async function readSkills(workspace: string): Promise<Skill[]> {
  const root = join(workspace, FOLDER);
  const names: string[] = await readdir(root).catch(() => []);
  const skills: Skill[] = [];
  for (const name of names.toSorted()) {
    const path = join(root, name, FILE);
    const read = await readBeginning(path, FRONT_MATTER_MAX_BYTES);
    const skill = read && skillOf(read.text, relative(workspace, path));
    if (skill !== undefined) skills.push(skill);
    if (skills.length === SKILLS_MAX) break;
  }
  return skills;
}

function skillOf(text: string, path: string): Skill | undefined {
  const block = /^\uFEFF?---\r?\n(.*?)\r?\n---/s.exec(text)?.[1];
  if (block === undefined) return undefined;
  const { name, description } = frontMatter(block);
  if (typeof name !== 'string' || typeof description !== 'string') return undefined;
  return { name: oneLine(name), description: oneLine(description), path: path.replaceAll('\\', '/') };
}

function frontMatter(block: string): { name?: unknown; description?: unknown } {
  try {
    const value: unknown = parse(block);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // somebody is just writing it
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, SKILL_DESCRIPTION_MAX_CHARS).toWellFormed();
}
