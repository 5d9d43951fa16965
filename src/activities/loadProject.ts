/** What the workspace says about itself, read on its host when a run starts. */
import { createHash } from 'node:crypto';
import type { LoadedProject, ProjectFacts } from '../domain/event.ts';
import { PROJECT_PROBLEMS_MAX } from '../domain/limits.ts';
import type { LoadProjectInput } from './contract.ts';
import { foldersDownTo } from './project/folders.ts';
import { readInstructions } from './project/instructions.ts';
import { readSkills } from './project/skills.ts';
import { existingFolder } from './runTool.ts';

/**
 * The activity `loadProject`. What the session knows already is not said again: every run's result stays in
 * Temporal's history, and a large AGENTS.md would fill it.
 */
export async function loadProject({ workspace, known_digest }: LoadProjectInput): Promise<LoadedProject> {
  const project = await readProject(workspace.path);
  const { digest, date, platform } = project;
  return digest === known_digest
    ? { digest, date, platform, unchanged: true }
    : { ...project, unchanged: false };
}

/** The project as it is now, whole. Rejects with `workspace.not_found`. */
export async function readProject(path: string): Promise<ProjectFacts> {
  const workspace = await existingFolder(path);
  const folders = await foldersDownTo(workspace);
  const { instructions, problems } = await readInstructions(folders);
  const { skills, problems: more } = await readSkills(folders);
  const named = [...problems, ...more].slice(0, PROJECT_PROBLEMS_MAX);
  const words = {
    instructions,
    ...(skills.length === 0 ? {} : { skills }),
    ...(named.length === 0 ? {} : { problems: named }),
  };
  return {
    // Neither the date nor the platform: a new day, or another machine, changes nothing that somebody wrote.
    digest: createHash('sha256').update(JSON.stringify(words)).digest('hex'),
    ...words,
    date: localDate(),
    platform: `${process.platform} ${process.arch}`,
  };
}

function localDate(): string {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}
