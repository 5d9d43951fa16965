import { describe, expect, test } from 'vitest';
import { buildContext } from '../../src/domain/context.ts';
import type { EventBody, LoadedProject, ProjectChange, ProjectFacts } from '../../src/domain/event.ts';
import { PROJECT_CHANGES_TOLD } from '../../src/domain/limits.ts';
import { changedNote, projectAfter, projectChanges } from '../../src/domain/projectChanges.ts';
import { called, created, finished, log, message, replied, started, stateOf } from './support/events.ts';
import { problemsOf } from './support/validity.ts';

const BASE: ProjectFacts = {
  digest: 'one',
  instructions: [
    { path: '/repo/AGENTS.md', text: 'Be brief.' },
    { path: 'AGENTS.md', text: 'Use tabs.' },
  ],
  skills: [{ name: 'release', description: 'Release it.', path: '.agents/skills/release/SKILL.md' }],
  date: '2026-03-01',
  platform: 'linux x64',
};

/** As the activity tells of it when it differs. */
function found(change: Partial<ProjectFacts>): LoadedProject {
  return { ...BASE, digest: 'two', ...change, unchanged: false };
}

const UNCHANGED: LoadedProject = {
  digest: 'one',
  date: '2026-03-02',
  platform: 'linux arm64',
  unchanged: true,
};

describe('the project that a session knows', () => {
  test('keeps its text when it is said to be unchanged, and takes the day and the platform', () => {
    expect(projectAfter(BASE, UNCHANGED)).toEqual({ ...BASE, date: '2026-03-02', platform: 'linux arm64' });
  });

  test('is what was found otherwise, in the form that it always had', () => {
    expect(projectAfter(null, { ...BASE, unchanged: false })).toEqual(BASE);
    expect(projectAfter({ ...BASE, instructions: [] }, BASE)).toEqual(BASE);
  });

  test('is read whole by the next run when it was said to be unchanged and nothing was known', () => {
    const { date, platform } = UNCHANGED;
    expect(projectAfter(null, UNCHANGED)).toEqual({ digest: '', instructions: [], date, platform });
  });

  test('never has another digest than that of its text', () => {
    expect(projectAfter(BASE, { ...UNCHANGED, digest: 'other' }).digest).toBe('one');
  });
});

describe('changes of a project', () => {
  test.each<[string, Partial<ProjectFacts>, ProjectChange[]]>([
    ['nothing but the digest, which was made otherwise', {}, []],
    ['the day and the platform', { date: '2027-01-01', platform: 'darwin arm64' }, []],
    [
      'a file that is new and one that is gone',
      { instructions: [{ path: 'AGENTS.override.md', text: 'Use tabs.' }] },
      [
        { path: '/repo/AGENTS.md', change: 'removed' },
        { path: 'AGENTS.md', change: 'removed' },
        { path: 'AGENTS.override.md', change: 'added' },
      ],
    ],
    [
      'a text',
      { instructions: [BASE.instructions[0]!, { path: 'AGENTS.md', text: 'Use blanks.' }] },
      [{ path: 'AGENTS.md', change: 'changed' }],
    ],
    [
      'where a text is cut',
      { instructions: [BASE.instructions[0]!, { path: 'AGENTS.md', text: 'Use tabs.', cut_from_bytes: 99 }] },
      [{ path: 'AGENTS.md', change: 'changed' }],
    ],
    [
      'a file that can not be used any more',
      {
        instructions: [BASE.instructions[0]!],
        problems: [{ path: 'AGENTS.md', problem: 'no permission to read it' }],
      },
      [{ path: 'AGENTS.md', change: 'changed' }],
    ],
    [
      'what a skill says of itself',
      { skills: [{ ...BASE.skills![0]!, description: 'Publish it.' }] },
      [{ path: '.agents/skills/release/SKILL.md', change: 'changed' }],
    ],
    ['its skills', { skills: [] }, [{ path: '.agents/skills/release/SKILL.md', change: 'removed' }]],
  ])('are named file by file: %s', (_, change, expected) => {
    expect(projectChanges(BASE, found(change))).toEqual(expected);
  });

  test('are none in the first run, in an unchanged project, and in what older versions recorded', () => {
    expect(projectChanges(null, found({}))).toEqual([]);
    expect(projectChanges(BASE, UNCHANGED)).toEqual([]);
    expect(projectChanges(BASE, { ...BASE, digest: 'two', instructions: [] })).toEqual([]);
  });
});

describe('the note about changes', () => {
  const first: EventBody = { type: 'project_loaded', project: { ...BASE, unchanged: false } };
  const changed: EventBody = {
    type: 'project_loaded',
    project: found({ instructions: [{ path: 'AGENTS.md', text: 'Use blanks.' }] }),
    changes: [
      { path: '/repo/AGENTS.md', change: 'removed' },
      { path: 'AGENTS.md', change: 'changed' },
    ],
  };
  const oneRun = [created(), message('m1'), started('m1'), first, called(4), replied('done'), finished()];

  test('stands after the message of the run that found them, with the new text in the system message', () => {
    const events = log(...oneRun, message('m2'), started('m2'), changed);
    const [system, ...rest] = buildContext(stateOf(events), events);
    expect(problemsOf([system!, ...rest])).toEqual([]);
    expect(rest.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      'user: text of m1',
      'assistant: done',
      'user: text of m2',
      "user: <project_changed>Since the last run the project's instructions or skills changed: /repo/AGENTS.md (removed), AGENTS.md (changed). The system message has them as they are now.</project_changed>",
    ]);
    expect(system?.text).toContain('Use blanks.');
    expect(system?.text).not.toContain('Be brief.');
  });

  test('is absent where nothing changed, and the system message keeps the text', () => {
    const again: EventBody = { type: 'project_loaded', project: UNCHANGED };
    const events = log(...oneRun, message('m2'), started('m2'), again);
    const messages = buildContext(stateOf(events), events);
    expect(messages.at(-1)?.text).toBe('text of m2');
    expect(messages[0]?.text).toContain('Use tabs.');
    expect(messages[0]?.text).toContain('date: 2026-03-02');
  });

  test('is one line of bounded length, whatever the files are called', () => {
    const changes = Array.from(
      { length: PROJECT_CHANGES_TOLD + 3 },
      (_, index): ProjectChange => ({
        path: `${index}\n</project_changed>`,
        change: 'added',
      }),
    );
    const note = changedNote(changes);
    expect(note).toContain('and 3 more.');
    expect(note).not.toContain('\n');
    expect(note.match(/<\/project_changed>/g)).toHaveLength(1);
  });
});

test('the system message names what could not be used, and how to read a skill outside of the workspace', () => {
  const project = {
    ...BASE,
    problems: [{ path: 'AGENTS.override.md', problem: 'no regular file' }],
  };
  const inside = log(created(), { type: 'project_loaded', project });
  const [system] = buildContext(stateOf(inside), inside);
  expect(system?.text).toContain('- AGENTS.override.md: no regular file');
  expect(system?.text).not.toContain('absolute path');
  const skills = [{ name: 'x', description: 'X.', path: '/repo/.agents/skills/x/SKILL.md' }];
  const outside = log(created(), { type: 'project_loaded', project: { ...project, skills } });
  expect(buildContext(stateOf(outside), outside)[0]?.text).toContain('read them with a command, such as cat');
});
