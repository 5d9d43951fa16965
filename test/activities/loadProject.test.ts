import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { getuid } from 'node:process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadProject } from '../../src/activities/loadProject.ts';
import type { ProjectFacts } from '../../src/domain/event.ts';
import { INSTRUCTIONS_MAX_BYTES } from '../../src/domain/limits.ts';

/** A repository at `repo`, with the workspace `repo/packages/app` in it. */
let root: string;
let repo: string;
let workspace: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
  repo = join(root, 'repo');
  workspace = join(repo, 'packages', 'app');
  await mkdir(workspace, { recursive: true });
  await mkdir(join(repo, '.git'));
});
afterEach(async () => rm(root, { recursive: true, force: true }));

async function load(path = workspace): Promise<ProjectFacts> {
  return loadProject({ workspace: { host: 'h', path } });
}

async function write(folder: string, text: string | Uint8Array): Promise<void> {
  await writeFile(join(folder, 'AGENTS.md'), text);
}

test('a project without instructions is its date and its platform', async () => {
  const { digest, ...facts } = await load();
  const now = new Date();
  expect(facts).toEqual({
    instructions: [],
    date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    platform: `${process.platform} ${process.arch}`,
  });
  expect(Number(facts.date.slice(8))).toBe(now.getDate());
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
});

test('equal digests mean that nothing changed', async () => {
  await write(workspace, 'one');
  const first = await load();
  expect(await load()).toEqual(first);
  await write(workspace, 'two');
  expect((await load()).digest).not.toBe(first.digest);
});

describe('instructions', () => {
  test('are read from the root of the repository down to the workspace, the nearest last', async () => {
    await write(root, 'above the repository');
    await write(repo, 'of the repository');
    await write(join(repo, 'packages'), 'of the packages');
    await write(workspace, 'of the app');
    expect((await load()).instructions).toEqual([
      { path: join(repo, 'AGENTS.md'), text: 'of the repository' },
      { path: join(repo, 'packages', 'AGENTS.md'), text: 'of the packages' },
      { path: 'AGENTS.md', text: 'of the app' },
    ]);
  });

  test('of a workspace that is the root of its repository are its own', async () => {
    await write(root, 'above');
    await write(repo, 'own');
    expect((await load(repo)).instructions).toEqual([{ path: 'AGENTS.md', text: 'own' }]);
  });

  test('of a worktree, whose .git is a file, end there', async () => {
    await writeFile(join(workspace, '.git'), 'gitdir: elsewhere\n');
    await write(repo, 'of another');
    await write(workspace, 'own');
    expect((await load()).instructions).toEqual([{ path: 'AGENTS.md', text: 'own' }]);
  });

  test('outside of a repository are those of the workspace alone', async () => {
    await rm(join(repo, '.git'), { recursive: true });
    await write(repo, 'above');
    await write(workspace, 'own');
    expect((await load()).instructions).toEqual([{ path: 'AGENTS.md', text: 'own' }]);
  });

  test('are found where a link leads to the workspace', async () => {
    await write(repo, 'of the repository');
    const link = join(root, 'link');
    await symlink(workspace, link);
    expect((await load(link)).instructions).toEqual([
      { path: join(repo, 'AGENTS.md'), text: 'of the repository' },
    ]);
  });

  test('that can not be read are passed over', async () => {
    await mkdir(join(repo, 'AGENTS.md'));
    await symlink('AGENTS.md', join(repo, 'packages', 'AGENTS.md'));
    await write(workspace, 'own');
    expect((await load()).instructions).toEqual([{ path: 'AGENTS.md', text: 'own' }]);
  });

  test.skipIf(getuid?.() === 0)('that are not for us to read are passed over', async () => {
    await write(repo, 'secret');
    await chmod(join(repo, 'AGENTS.md'), 0);
    expect((await load()).instructions).toEqual([]);
  });

  test('that are empty are there', async () => {
    await write(workspace, '');
    expect((await load()).instructions).toEqual([{ path: 'AGENTS.md', text: '' }]);
  });

  test('are text whatever their bytes are', async () => {
    await write(workspace, Buffer.from('\ufeffgr\xfc\xdf\0e', 'latin1'));
    const [file] = (await load()).instructions;
    expect(file?.text.isWellFormed()).toBe(true);
    expect(file?.text).not.toContain('\0');
    await write(workspace, '\ufeffwith a mark');
    expect((await load()).instructions[0]?.text).toBe('with a mark');
  });
});

describe('instructions beyond the limit', () => {
  test('are cut at the end of the farthest file, which says how large it is', async () => {
    await write(repo, 'r'.repeat(5_000));
    await write(workspace, 'a'.repeat(INSTRUCTIONS_MAX_BYTES - 1_000));
    expect((await load()).instructions).toEqual([
      { path: join(repo, 'AGENTS.md'), text: 'r'.repeat(1_000), cut_from_bytes: 5_000 },
      { path: 'AGENTS.md', text: 'a'.repeat(INSTRUCTIONS_MAX_BYTES - 1_000) },
    ]);
  });

  test('leave nothing of a file for which no room is left, and say so', async () => {
    await write(repo, 'of the repository');
    await write(workspace, 'a'.repeat(INSTRUCTIONS_MAX_BYTES + 1));
    expect((await load()).instructions).toMatchObject([
      { text: '', cut_from_bytes: 17 },
      { text: 'a'.repeat(INSTRUCTIONS_MAX_BYTES), cut_from_bytes: INSTRUCTIONS_MAX_BYTES + 1 },
    ]);
  });

  test('are not cut when they fit to the byte', async () => {
    await write(workspace, 'a'.repeat(INSTRUCTIONS_MAX_BYTES));
    expect((await load()).instructions).toEqual([
      { path: 'AGENTS.md', text: 'a'.repeat(INSTRUCTIONS_MAX_BYTES) },
    ]);
  });

  test.each([
    ['in the middle of a character', Buffer.from(`x${'€'.repeat(INSTRUCTIONS_MAX_BYTES)}`)],
    ['in bytes that are no text', Buffer.alloc(INSTRUCTIONS_MAX_BYTES, 0xfc)],
    ['in zeros', Buffer.alloc(INSTRUCTIONS_MAX_BYTES)],
  ])('that end %s stay within it, and the file above is still looked at', async (_, bytes) => {
    await write(repo, 'of the repository');
    await write(workspace, bytes);
    const { instructions } = await load();
    const [above, own] = instructions;
    expect(above).toMatchObject({ path: join(repo, 'AGENTS.md') });
    expect(own).toMatchObject({ cut_from_bytes: bytes.length });
    const sizes = instructions.map(({ text }) => Buffer.byteLength(text));
    expect(sizes[1]).toBeGreaterThan(INSTRUCTIONS_MAX_BYTES - 4);
    expect((sizes[0] ?? 0) + (sizes[1] ?? 0)).toBeLessThanOrEqual(INSTRUCTIONS_MAX_BYTES);
  });
});

describe('a workspace that is not there', () => {
  test.each([
    ['nothing', 'gone'],
    ['no folder', 'file'],
    ['nothing', 'dangling'],
  ])('is not found, with %s in its place (%s)', async (found, name) => {
    await writeFile(join(root, 'file'), '');
    await symlink(join(root, 'gone'), join(root, 'dangling'));
    const path = join(root, name);
    const failure = await load(path).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({
      type: 'workspace.not_found',
      nonRetryable: true,
      message: `WorkspaceNotFound: expected the session's workspace at ${path}, found ${found} there.`,
      details: [{ remedy: expect.stringContaining('holdfast rebind') }],
    });
  });
});

test('AGENTS.override.md takes the place of its folder’s AGENTS.md, and of no other', async () => {
  await write(repo, 'of the repository');
  await write(workspace, 'of the app');
  await writeFile(join(workspace, 'AGENTS.override.md'), 'instead');
  expect((await load()).instructions.map(({ path, text }) => [path, text])).toEqual([
    [join(repo, 'AGENTS.md'), 'of the repository'],
    ['AGENTS.override.md', 'instead'],
  ]);
});

async function writeSkill(name: string, text: string): Promise<void> {
  await mkdir(join(workspace, '.agents', 'skills', name), { recursive: true });
  await writeFile(join(workspace, '.agents', 'skills', name, 'SKILL.md'), text);
}

describe('skills', () => {
  test('are told by name and description, with the file to read', async () => {
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

  test('without readable front matter are none, and keep no other from being told', async () => {
    await writeSkill('a', 'no front matter');
    await writeSkill('b', '---\nname: [\n---\n');
    await writeSkill('c', '---\nname: c\n---\n');
    await writeSkill('d', '---\nname: d\ndescription: D.\n---\n');
    await mkdir(join(workspace, '.agents', 'skills', 'empty'));
    await writeFile(join(workspace, '.agents', 'skills', 'file'), '');
    expect((await load()).skills?.map((skill) => skill.name)).toEqual(['d']);
  });
});
