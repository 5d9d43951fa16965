/** A workspace, a journal and a way to end every process that a test started, and no other. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobStore } from '../../../src/activities/journal/blobs.ts';
import { SessionJobs } from '../../../src/activities/jobs/sessionJobs.ts';
import { Journal } from '../../../src/activities/journal/operation.ts';
import { CommandProofs } from '../../../src/activities/runner/proofs.ts';
import { commandEnvironment } from '../../../src/activities/tools/commandEnvironment.ts';
import type { ToolContext } from '../../../src/activities/tools/tool.ts';

/** POSIX has it everywhere; Node has no call for it. */
const MKFIFO = 'mkfifo';

/** The context of attempt 1 of an operation below `root`. Works in any process that is given the same names. */
export function contextAt(
  root: string,
  operation_id: string,
  changes: Partial<ToolContext> = {},
): ToolContext {
  const journal = new Journal(join(root, '.journal'));
  return {
    workspace: root,
    call_id: 'call_1',
    operation: journal.operation('s', operation_id),
    attempt: 1,
    worker: 'test',
    blobs: new BlobStore(join(root, '.blobs')),
    signal: new AbortController().signal,
    env: commandEnvironment(process.env),
    seenVersion: () => undefined,
    httpRules: () => Promise.resolve({ allow: [], file: '/home/holdfast.json' }),
    jobs: new SessionJobs(journal, 's'),
    findOutput: async () => undefined,
    ...changes,
  };
}

export class Bench {
  readonly root: string;
  /** Marks every process of this bench (HOLDFAST_OPERATION_ID begins with it). */
  readonly #mark = `test-${randomBytes(6).toString('hex')}`;
  #count = 0;

  static async make(): Promise<Bench> {
    return new Bench(await realpath(await mkdtemp(join(tmpdir(), 'holdfast-runner-'))));
  }

  constructor(root: string) {
    this.root = root;
  }

  newOperation(): string {
    this.#count += 1;
    return `${this.#mark}.${this.#count}`;
  }

  /** A context of a new operation, or of the one that is named. */
  context(changes: Partial<ToolContext> = {}, operation_id = this.newOperation()): ToolContext {
    return contextAt(this.root, operation_id, changes);
  }

  path(name: string): string {
    return join(this.root, name);
  }

  read(name: string): Promise<string> {
    return readFile(this.path(name), 'utf8');
  }

  /** A pipe by which a command and its test wait for each other: both ends block until the other comes. */
  fifo(name: string): { wait: () => Promise<string>; release: () => Promise<void> } {
    const path = this.path(name);
    execFileSync(MKFIFO, [path]);
    return { wait: () => readFile(path, 'utf8'), release: () => writeFile(path, 'go\n') };
  }

  /** Pids of the living processes of this bench. */
  living(operation_id = this.#mark): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && isMarked(name, operation_id))
      .map(Number);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.living()) killIfThere(pid);
    // A runner that was just killed may leave its folder busy for a moment.
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The pid of an operation's runner. */
export async function runnerPid(context: ToolContext): Promise<number> {
  const gate = await new CommandProofs(context.operation, context.attempt).settledGate();
  if (gate.state !== 'entered') throw new Error(`Expected an entered gate, found ${gate.state}.`);
  return gate.runner.pid;
}

export function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone already
  }
}

function isMarked(pid: string, mark: string): boolean {
  try {
    // A zombie's environment is empty.
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`\0HOLDFAST_OPERATION_ID=${mark}`);
  } catch {
    return false;
  }
}
