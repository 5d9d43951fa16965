import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { getuid } from 'node:process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadProject, readProject } from '../../src/activities/loadProject.ts';
import type { LoadedProject, ProjectFacts } from '../../src/domain/event.ts';
import { INSTRUCTION_FILES_MAX, INSTRUCTIONS_MAX_BYTES } from '../../src/domain/limits.ts';

const MKFIFO = 'mkfifo';

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
  return readProject(path);
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

  test('that can not be read are named, and the others are read', async () => {
    await mkdir(join(repo, 'AGENTS.md'));
    await symlink('AGENTS.md', join(repo, 'packages', 'AGENTS.md'));
    await write(workspace, 'own');
    expect(await load()).toMatchObject({
      instructions: [{ path: 'AGENTS.md', text: 'own' }],
      problems: [
        { path: join(repo, 'packages', 'AGENTS.md'), problem: 'a link that leads in a circle' },
        { path: join(repo, 'AGENTS.md'), problem: 'no regular file' },
      ],
    });
  });

  test.skipIf(getuid?.() === 0)('that are not for us to read are named', async () => {
    await write(repo, 'secret');
    await chmod(join(repo, 'AGENTS.md'), 0);
    expect(await load()).toMatchObject({
      instructions: [],
      problems: [{ path: join(repo, 'AGENTS.md'), problem: 'no permission to read it' }],
    });
  });

  test('that say nothing are left out', async () => {
    await write(workspace, ' \n');
    expect((await load()).instructions).toEqual([]);
  });

  test('that are a fifo do not hold up the run', { timeout: 5_000 }, async () => {
    await execa(MKFIFO, [join(workspace, 'AGENTS.md')]);
    expect((await load()).problems).toEqual([{ path: 'AGENTS.md', problem: 'no regular file' }]);
  });

  test('may be a link within the repository, and are told once', async () => {
    await writeFile(join(repo, 'RULES.md'), 'shared');
    await symlink('RULES.md', join(repo, 'AGENTS.md'));
    await symlink('../../RULES.md', join(workspace, 'AGENTS.md'));
    expect((await load()).instructions).toEqual([{ path: 'AGENTS.md', text: 'shared' }]);
  });

  test('that lead out of the repository, or nowhere, are not followed but named', async () => {
    await writeFile(join(root, 'secret'), 'secret');
    await symlink(join(root, 'secret'), join(workspace, 'AGENTS.md'));
    await symlink('gone', join(repo, 'AGENTS.md'));
    expect(await load()).toMatchObject({
      instructions: [],
      problems: [
        {
          path: 'AGENTS.md',
          problem: `a link that leads outside of the project: ${join(root, 'secret')}`,
        },
        { path: join(repo, 'AGENTS.md'), problem: 'a link that leads nowhere' },
      ],
    });
  });

  test('that lead out of a workspace without a repository are not followed', async () => {
    await rm(join(repo, '.git'), { recursive: true });
    await write(repo, 'above');
    await symlink('../../AGENTS.md', join(workspace, 'AGENTS.md'));
    expect((await load()).instructions).toEqual([]);
  });

  test('of more folders than the limit are those of the nearest, and the next is named', async () => {
    let folder = repo;
    for (let depth = 0; depth < INSTRUCTION_FILES_MAX; depth += 1) {
      folder = join(folder, 'd');
      await mkdir(folder);
      await write(folder, `${depth}`);
    }
    await write(repo, 'of the repository');
    const { instructions, problems } = await load(folder);
    expect(instructions).toHaveLength(INSTRUCTION_FILES_MAX);
    expect(problems).toMatchObject([{ path: join(repo, 'AGENTS.md') }]);
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

test('an AGENTS.override.md that can not be read is named, and AGENTS.md counts', async () => {
  await mkdir(join(workspace, 'AGENTS.override.md'));
  await write(workspace, 'of the app');
  expect(await load()).toMatchObject({
    instructions: [{ path: 'AGENTS.md', text: 'of the app' }],
    problems: [{ path: 'AGENTS.override.md', problem: 'no regular file' }],
  });
});

describe('a project that the session knows', () => {
  test('is not said again: its digest, the date and the platform are a few bytes', async () => {
    await write(workspace, 'a'.repeat(INSTRUCTIONS_MAX_BYTES));
    const { digest, date, platform } = await load();
    const again = await loadAfter(digest);
    expect(again).toEqual({ digest, date, platform, unchanged: true });
    expect(JSON.stringify(again).length).toBeLessThan(200);
  });

  test('is said whole when any of it changed, and when the digest is of another making', async () => {
    await write(workspace, 'one');
    const first = await load();
    expect(await loadAfter(undefined)).toEqual({ ...first, unchanged: false });
    expect(await loadAfter('f'.repeat(64))).toEqual({ ...first, unchanged: false });
    await write(workspace, 'two');
    expect(await loadAfter(first.digest)).toMatchObject({
      unchanged: false,
      instructions: [{ path: 'AGENTS.md', text: 'two' }],
    });
  });

  test('is unchanged on another day', async () => {
    await write(workspace, 'one');
    const { digest } = await load();
    vi.useFakeTimers({ now: new Date(2031, 1, 2), toFake: ['Date'] });
    try {
      expect(await loadAfter(digest)).toMatchObject({ unchanged: true, date: '2031-02-02' });
    } finally {
      vi.useRealTimers();
    }
  });
});

async function loadAfter(known_digest: string | undefined): Promise<LoadedProject> {
  return loadProject({
    workspace: { host: 'h', path: workspace },
    ...(known_digest === undefined ? {} : { known_digest }),
  });
}
