/**
 * The journal of one operation: a folder that holds the evidence of what was tried and how far it came.
 * It is never the source of the conversation; `reconcile` reads it after a crash.
 *
 *   intent.json    written and fsynced before anything happens
 *   gate-N         created exclusively by whoever decides attempt N: the one that causes the effect (it
 *                  writes how it entered) or the reconciler that shuts it out. Exactly one of them wins.
 *   other files    each tool's own proofs (a spool, an exit record, a receipt)
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { reached } from '../../host/faults.ts';
import { bootId } from '../../host/process.ts';
import { createFileExclusive, hasCode, makePrivateFolder, writeFileAtomic } from '../../host/files.ts';

/** What is about to be tried. `plan` is the tool's own: hashes before and after, a command, a request. */
export interface Intent<Plan = unknown> {
  operation_id: string;
  tool: string;
  /** Of the attempt that wrote it. */
  attempt: number;
  at: string;
  boot: string;
  plan: Plan;
}

/** Thrown by an attempt that comes too late: its operation was settled by somebody else. */
export class Fenced extends Error {
  constructor(operation_id: string, attempt: number) {
    super(`Attempt ${attempt} of ${operation_id} was settled without it; it stops before its effect.`);
    this.name = 'Fenced';
  }
}

const CLOSED = 'closed';

export class OperationRecord {
  readonly operation_id: string;
  /** Absolute path of the operation's folder. */
  readonly folder: string;

  constructor(operation_id: string, folder: string) {
    this.operation_id = operation_id;
    this.folder = folder;
  }

  /** The path of a file of this operation. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Records, durably, what attempt `attempt` is about to try. A newer attempt replaces the older's intent. */
  async recordIntent<Plan>(tool: string, attempt: number, plan: Plan): Promise<Intent<Plan>> {
    await makePrivateFolder(this.folder);
    const intent: Intent<Plan> = {
      operation_id: this.operation_id,
      tool,
      attempt,
      at: new Date().toISOString(),
      boot: await bootId(),
      plan,
    };
    await this.writeProof('intent.json', intent);
    await reached('after_intent');
    return intent;
  }

  /** The intent, or undefined when nothing was ever tried. */
  async readIntent<Plan>(): Promise<Intent<Plan> | undefined> {
    return this.readProof<Intent<Plan>>('intent.json');
  }

  /** The path that is created exclusively to enter an attempt; a runner of ours may create it itself. */
  gatePath(attempt: number): string {
    return this.path(`gate-${attempt}`);
  }

  /** Takes the right to cause the effect. Throws Fenced when the attempt was shut before. */
  async enterGate(attempt: number, by: string): Promise<void> {
    const entered = await createFileExclusive(
      this.gatePath(attempt),
      `entered ${by} ${new Date().toISOString()}\n`,
    );
    if (!entered) throw new Fenced(this.operation_id, attempt);
    await reached('after_gate');
  }

  /**
   * Shuts an attempt for good unless its effect has been begun. Returns `entered` when somebody went
   * through before: then the proofs tell how far it came.
   */
  async closeGate(attempt: number): Promise<'closed' | 'entered'> {
    await makePrivateFolder(this.folder);
    if (await createFileExclusive(this.gatePath(attempt), `${CLOSED} ${new Date().toISOString()}\n`))
      return 'closed';
    const text = await readFile(this.gatePath(attempt), 'utf8');
    return text.startsWith(CLOSED) ? 'closed' : 'entered';
  }

  /** Writes a JSON file of this operation, atomically and durably. */
  async writeProof(name: string, value: unknown): Promise<void> {
    await writeFileAtomic(this.path(name), `${JSON.stringify(value)}\n`);
  }

  /**
   * Reads a JSON file of this operation; undefined when it is not there. A torn or foreign file rejects
   * with an error that names it: it must not be taken for "nothing happened".
   */
  async readProof<T>(name: string): Promise<T | undefined> {
    let text: string;
    try {
      text = await readFile(this.path(name), 'utf8');
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new Error(
        `Expected JSON in the journal file ${this.path(name)}, found ${JSON.stringify(text.slice(0, 60))}.`,
      );
    }
  }
}

/** Where operations are recorded: `root/<session_id>/<operation_id>/`. */
export class Journal {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  operation(session_id: string, operation_id: string): OperationRecord {
    return new OperationRecord(operation_id, join(this.root, session_id, operation_id));
  }

  /** Removes what is recorded of an operation. Only for one whose result is recorded elsewhere for good. */
  async forget(session_id: string, operation_id: string): Promise<void> {
    await rm(join(this.root, session_id, operation_id), { recursive: true, force: true, maxRetries: 3 });
  }
}
