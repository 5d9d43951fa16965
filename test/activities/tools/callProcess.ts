/** Calls made by a process of their own, which a planted fault kills or freezes at an exact moment. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ToolOutcome } from '../../../src/domain/tool.ts';
import type { FaultPoint } from '../../../src/host/faults.ts';
import type { Bench } from '../runner/support.ts';

const CALL = fileURLToPath(new URL('fixtures/call.ts', import.meta.url));

export interface CallOptions {
  operation_id: string;
  tool: string;
  args: object;
  changes?: object;
  fault?: { at: FaultPoint; signal: 'SIGKILL' | 'SIGSTOP' };
}

export class CallProcess implements Disposable {
  readonly child: ChildProcess;
  readonly #printed: Promise<string>;
  readonly #exit: Promise<unknown>;

  static async start(bench: Bench, options: CallOptions): Promise<CallProcess> {
    const faults = join(bench.root, `faults-${options.operation_id}`);
    await mkdir(faults, { recursive: true });
    if (options.fault !== undefined) await writeFile(join(faults, options.fault.at), options.fault.signal);
    return new CallProcess(bench, options, faults);
  }

  private constructor(bench: Bench, { operation_id, tool, args, changes = {} }: CallOptions, faults: string) {
    this.child = fork(CALL, [bench.root, operation_id, tool, JSON.stringify(args), JSON.stringify(changes)], {
      execArgv: [],
      env: { ...process.env, HOLDFAST_FAULTS: faults },
      silent: true,
    });
    const { stdout } = this.child;
    if (stdout === null) throw new Error('Expected a pipe.');
    this.#printed = text(stdout);
    this.#exit = once(this.child, 'exit');
  }

  /** Until it is gone. */
  async ended(): Promise<void> {
    await this.#exit;
  }

  /** What the call gave; rejects when it was killed first. */
  async result(): Promise<ToolOutcome & { error?: string }> {
    return JSON.parse(await this.#printed) as ToolOutcome & { error?: string };
  }

  /** Until a planted SIGSTOP has stopped it: a SIGCONT before that would be lost. */
  async stopped(): Promise<void> {
    const state = async () => /\) (\S)/.exec(await readFile(`/proc/${this.child.pid}/stat`, 'utf8'))?.[1];
    while ((await state()) !== 'T') await delay(5);
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  [Symbol.dispose](): void {
    this.child.kill('SIGKILL');
  }
}

/** Makes a call whose process is killed at `at`, and waits until it is gone. */
export async function killedAt(bench: Bench, at: FaultPoint, options: CallOptions): Promise<void> {
  using call = await CallProcess.start(bench, { ...options, fault: { at, signal: 'SIGKILL' } });
  await call.ended();
  if (call.child.signalCode !== 'SIGKILL')
    throw new Error(`Expected a kill at ${at}, found ${JSON.stringify(await call.result())}.`);
}
