/** A workspace in a temporary folder, and tools run in it as a session does. */
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import { BlobStore } from '../../../src/activities/journal/blobs.ts';
import { SessionJobs } from '../../../src/activities/jobs/sessionJobs.ts';
import { Journal } from '../../../src/activities/journal/operation.ts';
import type { StoredOutput, Tool, ToolContext } from '../../../src/activities/tools/tool.ts';
import type { Reconciliation, ToolOutcome } from '../../../src/domain/tool.ts';

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

export class Sandbox {
  readonly root: string;
  readonly workspace: string;
  readonly journal: Journal;
  readonly blobs: BlobStore;
  /** What the session has seen, path to version. */
  readonly seen = new Map<string, string | null>();
  readonly outputs = new Map<string, StoredOutput>();
  #calls = 0;

  constructor(root: string) {
    this.root = root;
    this.workspace = join(root, 'workspace');
    this.journal = new Journal(join(root, 'journal'));
    this.blobs = new BlobStore(join(root, 'blobs'));
  }

  path(name: string): string {
    return join(this.workspace, name);
  }

  /** Writes a file that the session has not seen. */
  async put(name: string, data: string | Uint8Array): Promise<void> {
    await mkdir(dirname(this.path(name)), { recursive: true });
    await writeFile(this.path(name), data);
  }

  /** Writes a file that the session has read. */
  async putSeen(name: string, data: string | Uint8Array): Promise<void> {
    await this.put(name, data);
    this.seen.set(name, sha256(data));
  }

  bytes(name: string): Promise<Buffer> {
    return readFile(this.path(name));
  }

  text(name: string): Promise<string> {
    return readFile(this.path(name), 'utf8');
  }

  exists(name: string): boolean {
    return existsSync(this.path(name));
  }

  /** A pipe with a name, which would hold whoever opens it. */
  makeFifo(name: string): void {
    execFileSync('/bin/sh', ['-c', 'mkfifo "$1"', 'sh', this.path(name)]);
  }

  /** Whatever was staged and is still there, in all folders. */
  async leftovers(): Promise<string[]> {
    const names = await readdir(this.workspace, { recursive: true });
    return names.filter((name) => name.includes('.holdfast-'));
  }

  context(overrides: Partial<ToolContext> = {}): ToolContext {
    this.#calls += 1;
    return {
      workspace: this.workspace,
      call_id: `call_${this.#calls}`,
      operation: this.journal.operation('session', `op.${this.#calls}`),
      attempt: 1,
      worker: 'test-worker',
      blobs: this.blobs,
      signal: new AbortController().signal,
      env: process.env,
      seenVersion: (path) => this.seen.get(path),
      httpRules: () => Promise.resolve({ allow: [], file: '/home/holdfast.json' }),
      jobs: new SessionJobs(this.journal, 'session'),
      findOutput: async (call_id) => this.outputs.get(call_id),
      ...overrides,
    };
  }

  /** Parses the arguments, runs the tool, and remembers the versions as the session does. */
  async run(tool: Tool, args: unknown, context = this.context()): Promise<ToolOutcome> {
    const outcome = await tool.run(tool.schema.parse(args), context);
    for (const { path, version } of outcome.versions ?? []) this.seen.set(path, version);
    return outcome;
  }

  reconcile(tool: Tool, args: unknown, context: ToolContext): Promise<Reconciliation> {
    return tool.reconcile(tool.schema.parse(args), context);
  }
}

const roots: string[] = [];

/** A fresh one; removed after the test. */
export async function makeSandbox(): Promise<Sandbox> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-tools-')));
  roots.push(root);
  const sandbox = new Sandbox(root);
  await mkdir(sandbox.workspace);
  return sandbox;
}

afterEach(async () => {
  for (const root of roots.splice(0)) await rm(root, { recursive: true, force: true });
});
