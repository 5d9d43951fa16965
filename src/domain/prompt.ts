/** The fixed words that open every context: who the agent is, where it works, what the project says. */
import type { ProjectFacts } from './event.ts';
import type { SessionState } from './session.ts';

const SYSTEM_PROMPT = `You are Holdfast, a coding agent. You work in the user's workspace with the tools you are given, until the task is done.

How to work
- Read before you change. Use search and list_files to find things; read a file before you edit it.
- Make the smallest change that does the whole task, in the style of the code around it. Leave unrelated code alone.
- After a change, run the project's own tests or checks and read what they print. Say "done" only of what you saw work.
- Commands have no terminal and no input: use flags instead of prompts.
- When something fails, find out why before you try again. Do not repeat a failing call unchanged.
- If the task is unclear in a way that changes the result, ask. Otherwise decide, and say what you decided.

What is true
- A tool's result is what happened. A result that begins with UNKNOWN means that the call was begun and its end could not be found out: check the real state (read the file, list processes, look at git) before you rely on it or repeat it.
- A <recovery> block tells what a crash left open. Treat it like that: neither done nor undone until you have looked.
- Never claim an effect that no result shows.

When you are finished, answer briefly: what you changed, how you checked it, and what is left open.`;

/** The text of the system message. */
export function systemText(state: SessionState): string {
  const { project } = state;
  const parts = [
    SYSTEM_PROMPT,
    environment(state),
    ...instructions(project),
    ...skills(project),
    ...problems(project),
  ];
  return parts.join('\n\n');
}

function environment(state: SessionState): string {
  const { project } = state;
  const lines = [`workspace: ${state.workspace.path}`, `host: ${state.workspace.host}`];
  if (project !== null) lines.push(`platform: ${project.platform}`, `date: ${project.date}`);
  lines.push(`approval: ${APPROVAL_WORDS[state.settings.approval]}`);
  return ['<environment>', ...lines, '</environment>'].join('\n');
}

const APPROVAL_WORDS = {
  auto: 'calls run without asking',
  ask: 'calls with side effects wait until the user approves them',
  'read-only': 'calls with side effects are denied',
};

function skills(project: ProjectFacts | null): string[] {
  const lines = (project?.skills ?? []).map(
    ({ name, description, path }) => `- ${name}: ${description} (${path})`,
  );
  if (lines.length === 0) return [];
  return [
    [
      '<skills>',
      'When a task fits one of these, read its file first and follow it:',
      ...lines,
      ...(project?.skills?.some(({ path }) => path.startsWith('/')) ? [OUTSIDE] : []),
      '</skills>',
    ].join('\n'),
  ];
}

const OUTSIDE =
  'Those with an absolute path lie outside of the workspace: read them with a command, such as cat.';

function problems(project: ProjectFacts | null): string[] {
  const lines = (project?.problems ?? []).map(({ path, problem }) => `- ${path}: ${problem}`);
  if (lines.length === 0) return [];
  return [
    [
      '<project_problems>',
      'These instructions or skills of the project could not be used:',
      ...lines,
      '</project_problems>',
    ].join('\n'),
  ];
}

function instructions(project: ProjectFacts | null): string[] {
  return (project?.instructions ?? []).map((file) => {
    const cut =
      file.cut_from_bytes === undefined
        ? ''
        : `\n[cut: only the beginning of ${file.cut_from_bytes} bytes; read the file for the rest]`;
    return `<instructions from="${file.path}">\n${file.text}${cut}\n</instructions>`;
  });
}
