import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readProject } from '../../src/activities/loadProject.ts';
import type { ProjectFacts } from '../../src/domain/event.ts';
import { PROJECT_PROBLEMS_MAX, SKILL_DESCRIPTION_MAX_CHARS, SKILLS_MAX } from '../../src/domain/limits.ts';

const MKFIFO = 'mkfifo';

/** A repository at `repo`, with the workspace `repo/app` in it. */
let root: string;
let repo: string;
let workspace: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
  repo = join(root, 'repo');
  workspace = join(repo, 'app');
  await mkdir(workspace, { recursive: true });
  await mkdir(join(repo, '.git'));
});
afterEach(async () => rm(root, { recursive: true, force: true }));

async function load(): Promise<ProjectFacts> {
  return readProject(workspace);
}

async function writeSkill(name: string, text: string | Uint8Array, folder = workspace): Promise<void> {
  await mkdir(join(folder, '.agents', 'skills', name), { recursive: true });
  await writeFile(join(folder, '.agents', 'skills', name, 'SKILL.md'), text);
}

function skill(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\nThe body.\n`;
}

test('skills are told by name and description, with the file to read', async () => {
  await writeSkill(
    'release',
    '---\nname: release\ndescription: >\n  How to make\n  a release.\n---\nThe body.\n',
  );
  await writeSkill('bug', '---\r\nname: "bug"\r\ndescription: Mend a bug.\r\nextra: [1]\r\n---\r\n');
  expect((await load()).skills).toEqual([
    { name: 'bug', description: 'Mend a bug.', path: '.agents/skills/bug/SKILL.md' },
    { name: 'release', description: 'How to make a release.', path: '.agents/skills/release/SKILL.md' },
  ]);
});

test('skills without readable front matter are named, and keep no other from being told', async () => {
  await writeSkill('a', 'no front matter');
  await writeSkill('b', '---\nname: [\n---\n');
  await writeSkill('c', '---\nname: c\n---\n');
  await writeSkill('d', skill('d', 'D.'));
  await writeSkill('e', '---\nname: e\ndescription: never ends\n');
  await writeSkill('f', '---\nname: ""\ndescription: nameless\n---\n');
  await writeSkill('g', '---\njust words\n---\n');
  await mkdir(join(workspace, '.agents', 'skills', 'empty'));
  await writeFile(join(workspace, '.agents', 'skills', 'README.md'), '');
  const { skills, problems } = await load();
  expect(skills?.map(({ name }) => name)).toEqual(['d']);
  expect(problems).toEqual([
    { path: pathOf('a'), problem: 'no front matter with a name and a description at its beginning' },
    { path: pathOf('b'), problem: expect.stringMatching(/^its front matter is no YAML: .*line 1/) },
    { path: pathOf('c'), problem: 'its front matter has no text as name or as description' },
    { path: pathOf('e'), problem: 'no front matter with a name and a description at its beginning' },
    { path: pathOf('f'), problem: 'its front matter has an empty name or description' },
    { path: pathOf('g'), problem: 'its front matter has no text as name or as description' },
  ]);
});

test('skills are looked for from the workspace up to the root of the repository, and no further', async () => {
  await writeSkill('own', skill('own', 'Own.'));
  await writeSkill('shared', skill('shared', 'Shared.'), repo);
  await writeSkill('foreign', skill('foreign', 'Foreign.'), root);
  expect((await load()).skills).toEqual([
    { name: 'own', description: 'Own.', path: pathOf('own') },
    { name: 'shared', description: 'Shared.', path: join(repo, pathOf('shared')) },
  ]);
});

test('of two skills of one name the nearer one counts, and the other is named', async () => {
  await writeSkill('one', skill('same', 'Near.'));
  await writeSkill('two', skill('same', 'Beside.'));
  await writeSkill('one', skill('same', 'Far.'), repo);
  const problem = `has the name of ${pathOf('one')}, which is the one that counts`;
  expect(await load()).toMatchObject({
    skills: [{ name: 'same', description: 'Near.' }],
    problems: [
      { path: pathOf('two'), problem },
      { path: join(repo, pathOf('one')), problem },
    ],
  });
});

test('a skill that is a link within the repository is told once, by the place where its file is', async () => {
  await writeSkill('shared', skill('shared', 'Shared.'), repo);
  await mkdir(join(workspace, '.agents', 'skills'), { recursive: true });
  await symlink(join(repo, '.agents', 'skills', 'shared'), join(workspace, '.agents', 'skills', 'shared'));
  const { skills, problems } = await load();
  expect(skills?.map(({ path }) => path)).toEqual([join(repo, pathOf('shared'))]);
  expect(problems).toBeUndefined();
});

test('what leads out of the repository, or is no file, is named and does not hold up the run', {
  timeout: 5_000,
}, async () => {
  await writeSkill('foreign', skill('foreign', 'Foreign.'), root);
  const folder = join(workspace, '.agents', 'skills');
  await mkdir(join(folder, 'fifo'), { recursive: true });
  await execa(MKFIFO, [join(folder, 'fifo', 'SKILL.md')]);
  await mkdir(join(folder, 'folder', 'SKILL.md'), { recursive: true });
  const foreign = join(root, '.agents', 'skills', 'foreign');
  await symlink(foreign, join(folder, 'foreign'));
  expect(await load()).toMatchObject({
    problems: [
      { path: pathOf('fifo'), problem: 'no regular file' },
      { path: pathOf('folder'), problem: 'no regular file' },
      {
        path: pathOf('foreign'),
        problem: `a link that leads outside of the project: ${join(foreign, 'SKILL.md')}`,
      },
    ],
  });
});

test('a file in the place of the folder of skills is named', async () => {
  await mkdir(join(workspace, '.agents'));
  await writeFile(join(workspace, '.agents', 'skills'), '');
  expect((await load()).problems).toEqual([{ path: '.agents/skills', problem: 'no folder' }]);
});

test('names and descriptions are one line of valid Unicode of bounded length', async () => {
  const long = '😀'.repeat(SKILL_DESCRIPTION_MAX_CHARS);
  await writeSkill('long', `---\nname: long\ndescription: ${long}\n---\n`);
  await writeSkill('odd', '---\nname: odd\ndescription: "a\\0b\\ud800\\n c"\n---\n');
  await writeSkill('raw', Buffer.from('---\nname: raw\ndescription: gr\xfc\xdfe\n---\n', 'latin1'));
  const skills = (await load()).skills ?? [];
  expect(skills.map(({ name }) => name)).toEqual(['long', 'odd', 'raw']);
  for (const { description } of skills) {
    expect(description.isWellFormed()).toBe(true);
    expect(description).not.toMatch(/\p{Cc}/u);
    expect(description.length).toBeLessThanOrEqual(SKILL_DESCRIPTION_MAX_CHARS);
  }
  expect(skills[0]?.description.endsWith('…')).toBe(true);
});

test('more skills than the limit are said to be too many, and no more than so many problems are named', async () => {
  for (let number = 0; number < SKILLS_MAX + 2; number += 1)
    await writeSkill(`s${String(number).padStart(3, '0')}`, skill(`s${number}`, 'One of many.'));
  const { skills, problems } = await load();
  expect(skills).toHaveLength(SKILLS_MAX);
  expect(problems).toEqual([
    { path: pathOf('s064'), problem: `not told: ${SKILLS_MAX} skills are the limit` },
  ]);
  for (let number = 0; number < PROJECT_PROBLEMS_MAX + 2; number += 1) await writeSkill(`bad${number}`, '');
  expect((await load()).problems).toHaveLength(PROJECT_PROBLEMS_MAX);
});

function pathOf(name: string): string {
  return `.agents/skills/${name}/SKILL.md`;
}
