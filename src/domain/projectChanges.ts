/** What a run finds of its project, held against what the session knew from an earlier one. */
import type { LoadedProject, ProjectChange, ProjectFacts } from './event.ts';
import { PROJECT_CHANGES_TOLD } from './limits.ts';

/** The project as the session knows it after a load. */
export function projectAfter(known: ProjectFacts | null, loaded: LoadedProject): ProjectFacts {
  const { unchanged: _, ...project } = loaded;
  if ('instructions' in project) return project;
  const { date, platform } = project;
  // Nothing is said to be unchanged that was not known. If it were, this digest has it read whole next time.
  const before = known ?? { digest: '', instructions: [] };
  return { ...before, date, platform };
}

/**
 * The files that differ, by path; none in the first run. None either for what was loaded before runs were
 * compared: its events are told again as they were.
 */
export function projectChanges(known: ProjectFacts | null, loaded: LoadedProject): ProjectChange[] {
  if (known === null || loaded.unchanged !== false) return [];
  const before = filesOf(known);
  const now = filesOf(loaded);
  const paths = [...new Set([...before.keys(), ...now.keys()])].toSorted();
  return paths.flatMap((path): ProjectChange[] => {
    if (!before.has(path)) return [{ path, change: 'added' }];
    if (!now.has(path)) return [{ path, change: 'removed' }];
    return before.get(path) === now.get(path) ? [] : [{ path, change: 'changed' }];
  });
}

/** What is known of each file. One that can't be used is there nevertheless. */
function filesOf({ instructions, skills = [], problems = [] }: ProjectFacts): Map<string, string> {
  return new Map([
    ...problems.map(({ path, problem }) => [path, `problem: ${problem}`] as const),
    ...skills.map(({ path, name, description }) => [path, JSON.stringify([name, description])] as const),
    ...instructions.map(({ path, text, cut_from_bytes = 0 }) => [path, `${cut_from_bytes} ${text}`] as const),
  ]);
}

/** What the model is told of them, where they were found: the text itself is in the system message. */
export function changedNote(changes: readonly ProjectChange[]): string {
  const told = changes
    .slice(0, PROJECT_CHANGES_TOLD)
    .map(({ path, change }) => `${path.replaceAll(/[\p{Cc}<>]/gu, '?')} (${change})`);
  const more = changes.length > told.length ? ` and ${changes.length - told.length} more` : '';
  return `<project_changed>Since the last run the project's instructions or skills changed: ${told.join(', ')}${more}. The system message has them as they are now.</project_changed>`;
}
