/** What the workspace says about itself, read on its host when a run starts. */
import { createHash } from 'node:crypto';
import type { ProjectFacts, WorkspaceBinding } from '../domain/event.ts';
import { foldersDownTo } from './project/folders.ts';
import { readInstructions } from './project/instructions.ts';
import { readSkills } from './project/skills.ts';
import { existingFolder } from './runTool.ts';

/** The activity `loadProject`. */
export async function loadProject(input: { workspace: WorkspaceBinding }): Promise<ProjectFacts> {
  const workspace = await existingFolder(input.workspace.path);
  const skills = await readSkills(workspace);
  const facts = {
    instructions: await readInstructions(await foldersDownTo(workspace)),
    ...(skills.length === 0 ? {} : { skills }),
    date: localDate(),
    platform: `${process.platform} ${process.arch}`,
  };
  return { digest: createHash('sha256').update(JSON.stringify(facts)).digest('hex'), ...facts };
}

function localDate(): string {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}
