/** A real repository in a bench's folder, which knows nothing of the machine's own git configuration. */
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { vi } from 'vitest';
import type { ToolContext } from '../../../src/activities/tools/tool.ts';
import type { Bench } from '../runner/support.ts';

/** Isolates git for this process and its children until vi.unstubAllEnvs. */
export function isolateGit(bench: Bench): void {
  vi.stubEnv('HOME', bench.root);
  vi.stubEnv('XDG_CONFIG_HOME', bench.root);
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
}

export class GitRepo {
  readonly root: string;
  readonly #bench: Bench;

  /** On branch main, with an author; `files` are committed. */
  static async make(bench: Bench, files: Record<string, string> = { a: 'a\n', b: 'b\n' }): Promise<GitRepo> {
    isolateGit(bench);
    const repo = new GitRepo(bench, bench.path('repo'));
    await mkdir(repo.root);
    repo.git('init', '--quiet', '--initial-branch=main');
    repo.git('config', 'user.name', 'A');
    repo.git('config', 'user.email', 'a@example.com');
    if (Object.keys(files).length > 0) await repo.commitFiles(files, 'first');
    return repo;
  }

  constructor(bench: Bench, root: string) {
    this.#bench = bench;
    this.root = root;
  }

  git(...args: string[]): string {
    return execFileSync('git', args, {
      cwd: this.root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  get head(): string {
    return this.git('rev-parse', 'HEAD');
  }

  /** Commits that carry a trailer of ours, on any branch. */
  get operations(): string[] {
    return this.git('log', '--all', '--format=%(trailers:key=Holdfast-Operation,valueonly)')
      .split('\n')
      .filter((line) => line !== '');
  }

  /** Short status, one line a path. */
  get status(): string[] {
    return this.git('status', '--porcelain', '--untracked-files=all')
      .split('\n')
      .filter((line) => line !== '');
  }

  async put(path: string, content: string): Promise<void> {
    const place = join(this.root, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, content);
  }

  async commitFiles(files: Record<string, string>, message: string): Promise<void> {
    for (const [path, content] of Object.entries(files)) await this.put(path, content);
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', message);
  }

  async hook(name: string, script: string): Promise<void> {
    const path = join(this.root, '.git/hooks', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
  }

  context(changes: Partial<ToolContext> = {}, operation_id = this.#bench.newOperation()): ToolContext {
    return this.#bench.context({ workspace: this.root, ...changes }, operation_id);
  }
}
