/** One process under supervision: started, adopted, watched, started again when it dies. */
import type { ChildProcess } from 'node:child_process';
import { isAlive, type ProcessIdentity } from '../host/process.ts';
import { afterDeath, NO_DEATHS, STABLE_AFTER_MS, type Deaths } from './restartPolicy.ts';
import type { PartState, Phase } from './state.ts';
import { signalProcess, stopProcess } from './stopProcess.ts';

/** One that runs and does not become ready in this time is killed and counted as dead. */
const READY_TIMEOUT_MS = 120_000;

export interface PartHooks {
  name: 'server' | 'worker';
  graceMs: number;
  /** Whether it may be started now. */
  wanted: () => boolean;
  /** Starts the process; `record` must have resolved before the program itself begins. */
  launch: (record: (identity: ProcessIdentity) => Promise<void>) => Promise<ChildProcess>;
  /** Resolves when it is ready; gives up when the signal is aborted. */
  untilReady: (identity: ProcessIdentity, signal: AbortSignal) => Promise<void>;
  /** Resolves when it lives and does nothing; rejects when the signal is aborted. Absent: it is not asked. */
  untilHung?: (signal: AbortSignal) => Promise<void>;
  /** Makes the state file durable; rejects when that fails. */
  record: () => Promise<void>;
  /** Something that the state file shows has changed. Never rejects. */
  changed: () => Promise<void>;
  /** The loop should look at once. */
  wake: () => void;
  log: (line: string, fields?: object) => void;
}

export class SupervisedPart {
  readonly #hooks: PartHooks;
  #process: ProcessIdentity | null = null;
  /** Only of a process that this supervisor has started itself. */
  #child: ChildProcess | undefined;
  #phase: Phase = 'idle';
  #deaths: Deaths = NO_DEATHS;
  #lastExit: string | null = null;
  #retryAt = 0;
  #readySince: number | undefined;
  #watch = new AbortController();

  constructor(hooks: PartHooks) {
    this.#hooks = hooks;
  }

  get process(): ProcessIdentity | null {
    return this.#process;
  }

  get ready(): boolean {
    return this.#phase === 'ready';
  }

  /** What the state file says of it. */
  state(): PartState {
    return {
      process: this.#process,
      phase: this.#phase,
      deaths: this.#deaths.inRow,
      last_exit: this.#lastExit,
      retry_at:
        this.#phase === 'waiting' || this.#phase === 'crashed' ? new Date(this.#retryAt).toISOString() : null,
    };
  }

  /** Takes over a process that an earlier supervisor has started. */
  adopt(identity: ProcessIdentity): void {
    this.#hooks.log(`adopted the ${this.#hooks.name}`, { child: identity.pid });
    this.#process = identity;
    this.#phase = 'starting';
    void this.#awaitReady(identity);
  }

  /** Looks whether it lives, and does what is due. */
  async tick(): Promise<void> {
    if (this.#process !== null && !(await this.#runs(this.#process)))
      await this.#died(this.#exitOf(this.#child));
    if (this.#process === null && this.#hooks.wanted() && Date.now() >= this.#retryAt) await this.#start();
    if (
      this.#deaths.inRow > 0 &&
      this.#readySince !== undefined &&
      Date.now() - this.#readySince > STABLE_AFTER_MS
    ) {
      this.#deaths = NO_DEATHS;
      await this.#hooks.changed();
    }
  }

  /** Forgets earlier deaths and tries at once. */
  retryNow(): void {
    this.#deaths = NO_DEATHS;
    this.#retryAt = 0;
    this.#hooks.wake();
  }

  /** Ends it for good. */
  async stop(): Promise<void> {
    this.#watch.abort();
    if (this.#process !== null) await stopProcess(this.#process, this.#hooks.graceMs);
    this.#process = null;
    this.#phase = 'idle';
  }

  async #start(): Promise<void> {
    this.#readySince = undefined;
    try {
      this.#child = await this.#hooks.launch(async (identity) => {
        this.#process = identity;
        this.#phase = 'starting';
        await this.#hooks.record();
      });
      this.#child.once('exit', () => this.#hooks.wake());
    } catch (error) {
      await this.#died(`could not be started: ${error instanceof Error ? error.message : String(error)}`);
      return;
    }
    if (this.#process === null) return;
    this.#hooks.log(`started the ${this.#hooks.name}`, { child: this.#process.pid });
    void this.#awaitReady(this.#process);
  }

  async #died(how: string): Promise<void> {
    this.#watch.abort();
    const restart = afterDeath(this.#deaths, Date.now(), this.#readySince);
    this.#deaths = restart.deaths;
    this.#lastExit = how;
    this.#retryAt = Date.now() + restart.delayMs;
    this.#process = null;
    this.#child = undefined;
    this.#readySince = undefined;
    this.#phase = restart.deaths.crashed ? 'crashed' : 'waiting';
    this.#hooks.log(`the ${this.#hooks.name} died`, {
      how,
      deaths: restart.deaths.inRow,
      retry_in_ms: restart.delayMs,
    });
    await this.#hooks.changed();
  }

  /** Never rejects. */
  async #awaitReady(identity: ProcessIdentity): Promise<void> {
    const watch = new AbortController();
    this.#watch = watch;
    const { untilReady, changed, wake, log, name } = this.#hooks;
    try {
      await untilReady(identity, AbortSignal.any([watch.signal, AbortSignal.timeout(READY_TIMEOUT_MS)]));
    } catch (error) {
      if (watch.signal.aborted) return;
      log(`the ${name} does not become ready and is killed`, { error: String(error) });
      await signalProcess(identity, 'SIGKILL');
      return;
    }
    if (watch.signal.aborted) return;
    this.#phase = 'ready';
    this.#readySince = Date.now();
    log(`the ${name} is ready`, { child: identity.pid });
    await changed();
    wake();
    void this.#killWhenHung(identity, watch.signal);
  }

  /** Never rejects. */
  async #killWhenHung(identity: ProcessIdentity, signal: AbortSignal): Promise<void> {
    const { untilHung, log, name } = this.#hooks;
    if (untilHung === undefined) return;
    try {
      await untilHung(signal);
    } catch {
      return; // it died by itself, or is being stopped
    }
    log(`the ${name} does not answer any more and is killed`, { child: identity.pid });
    await signalProcess(identity, 'SIGKILL');
  }

  async #runs(identity: ProcessIdentity): Promise<boolean> {
    if (this.#child !== undefined) return this.#child.exitCode === null && this.#child.signalCode === null;
    return await isAlive(identity);
  }

  #exitOf(child: ChildProcess | undefined): string {
    if (child === undefined) return 'gone';
    return child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`;
  }
}
