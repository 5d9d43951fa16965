/**
 * The jobs of one session: its own operations and no others, whoever asks. A job is a background call of
 * bash; its folder in the journal is all that there is of it, so it is found again after any restart.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../host/files.ts';
import type { Intent, Journal } from '../journal/operation.ts';
import { CommandProofs, type RunnerPlan } from '../runner/proofs.ts';

/** The plan in the intent of a background call. */
export interface JobPlan extends RunnerPlan {
  background: true;
}

export interface Job {
  job_id: string;
  intent: Intent<JobPlan>;
  proofs: CommandProofs;
}

/** What may be part of an operation_id: nothing that leads to another folder or is too long for a name. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}$/;
const READ_AT_ONCE = 64;

export class SessionJobs {
  readonly #journal: Journal;
  readonly #session_id: string;

  constructor(journal: Journal, session_id: string) {
    this.#journal = journal;
    this.#session_id = session_id;
  }

  /** The job of an operation, as the model names it: `r1.s3.2`, the operation_id without the session. */
  idOf(operation_id: string): string {
    return operation_id.startsWith(this.#prefix) ? operation_id.slice(this.#prefix.length) : operation_id;
  }

  /**
   * The job of this session with this id (or this operation_id), or undefined. Rejects when its journal
   * entry is damaged, with its name.
   */
  async find(job_id: string): Promise<Job | undefined> {
    if (!NAME.test(job_id)) return undefined;
    return (await this.#read(this.#prefix + job_id)) ?? this.#read(job_id);
  }

  /** All jobs of this session, the newest first. Damaged entries are left out. */
  async list(): Promise<Job[]> {
    const names = await this.#operations();
    const jobs: Job[] = [];
    for (let from = 0; from < names.length; from += READ_AT_ONCE) {
      const some = names.slice(from, from + READ_AT_ONCE);
      const read = await Promise.all(some.map(async (name) => this.#read(name).catch(() => undefined)));
      jobs.push(...read.filter((job) => job !== undefined));
    }
    return jobs.toSorted((a, b) => b.intent.at.localeCompare(a.intent.at));
  }

  get #prefix(): string {
    return `${this.#session_id}.`;
  }

  async #operations(): Promise<string[]> {
    try {
      return await readdir(join(this.#journal.root, this.#session_id));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw error;
    }
  }

  async #read(operation_id: string): Promise<Job | undefined> {
    const record = this.#journal.operation(this.#session_id, operation_id);
    const intent = await record.readIntent<JobPlan>();
    if (intent?.tool !== 'bash' || !('background' in intent.plan)) return undefined;
    const proofs = new CommandProofs(record, intent.attempt);
    return { job_id: this.idOf(operation_id), intent, proofs };
  }
}
