/** Starts and awaits the worker fixture. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ToolOutcome } from '../../../src/domain/tool.ts';
import type { Bench } from './support.ts';

const WORKER = fileURLToPath(new URL('fixtures/worker.ts', import.meta.url));

/** What the fixture says. */
export interface WorkerMessage {
  stopping?: true;
  outcome?: ToolOutcome;
  grown_kib?: number;
  error?: string;
}

export class ForkedWorker implements Disposable {
  readonly #child: ChildProcess;

  constructor(bench: Bench, operation_id: string, args: object, mode = '') {
    this.#child = fork(WORKER, [bench.root, operation_id, JSON.stringify(args), mode], { execArgv: [] });
  }

  async message(): Promise<WorkerMessage> {
    const [message] = (await once(this.#child, 'message')) as [WorkerMessage];
    return message;
  }

  /** SIGKILL, and until it is really gone. */
  async kill(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  wakeUp(): void {
    this.#child.kill('SIGCONT');
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL');
  }
}
