/**
 * Keeps one home's server and worker running. Everything that it knows is in the state file before it is
 * relied on, so that it can be killed at any moment and the next one goes on from there.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, readFileIfThere } from '../host/files.ts';
import type { Home } from '../host/home.ts';
import { identifyProcess, type ProcessIdentity } from '../host/process.ts';
import { removeWorkerFile } from '../host/workerFile.ts';
import { findLiving, type Living } from './living.ts';
import { logPath, rotateIfLarge } from './logs.ts';
import { choosePorts } from './ports.ts';
import { grpcAddress, type Ports } from './serverCommand.ts';
import { launchServer, untilServerReady } from './serverPart.ts';
import { removeState, STATE_VERSION, writeState, type State } from './state.ts';
import { SERVER_GRACE_MS, stopProcess, WORKER_GRACE_MS } from './stopProcess.ts';
import { SupervisedPart, type PartHooks } from './supervisedPart.ts';
import { launchWorker, untilWorkerReady } from './workerPart.ts';
import { untilHung } from './workerPulse.ts';

/** How soon the death of an adopted process is seen; that of an own child wakes the loop at once. */
const POLL_MS = 200;
const ROTATE_EVERY_MS = 10_000;

export interface SupervisorOptions {
  /** With its real path. */
  home: Home;
  binary: State['binary'];
  /** File that Node runs as the worker; null: none. */
  workerEntry: string | null;
  env: NodeJS.ProcessEnv;
  log: (line: string, fields?: object) => void;
  /** Called after each change of the state file. */
  onSaved?: () => Promise<void>;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #self: ProcessIdentity;
  readonly #server: SupervisedPart;
  readonly #worker: SupervisedPart | undefined;
  #ports: Ports;
  #binary: State['binary'];
  /** The server that the worker was told of. */
  #workerAddress = '';
  #replacingWorker = false;
  #wake = new AbortController();
  #saving: Promise<void> = Promise.resolve();
  /** The text of our state file, to tell it from what somebody else has put there. */
  #written: string | undefined;
  #rotatedAt = 0;

  private constructor(options: SupervisorOptions, self: ProcessIdentity, ports: Ports) {
    this.#options = options;
    this.#self = self;
    this.#ports = ports;
    this.#binary = options.binary;
    this.#server = new SupervisedPart(this.#serverHooks());
    this.#worker =
      options.workerEntry === null ? undefined : new SupervisedPart(this.#workerHooks(options.workerEntry));
  }

  /** Takes over what lives. The caller holds the lock of the home. */
  static async start(options: SupervisorOptions): Promise<Supervisor> {
    const { home } = options;
    const self = await identifyProcess(process.pid);
    if (self === undefined)
      throw new Error('Expected to find this process itself, found none. Is /proc mounted?');
    const living = await findLiving(home);
    const ports = living.server && living.ports ? living.ports : await choosePorts(home.root, living.ports);
    const supervisor = new Supervisor(options, self, ports);
    supervisor.#adopt(living);
    await supervisor.#save();
    return supervisor;
  }

  /** Runs until `signal` is aborted or the home is removed; then stops the worker, the server, and tidies up. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake.abort());
    while (!signal.aborted && (await this.#keepStateFile())) {
      await this.#tick();
      await this.#pause(signal);
    }
    this.#options.log('stopping');
    await this.#worker?.stop();
    await this.#server.stop();
    await this.#saving;
    await removeWorkerFile(this.#options.home);
    await removeState(this.#options.home);
    this.#options.log('stopped');
  }

  async #tick(): Promise<void> {
    try {
      await this.#server.tick();
      await this.#worker?.tick();
      this.#replaceMisdirectedWorker();
      await this.#rotateLogs();
    } catch (error) {
      // Too many open files, for instance: that passes, and nobody else would watch meanwhile.
      this.#options.log('could not look after server and worker', { error: String(error) });
    }
  }

  /** Tries at once what is waiting or crashed. */
  retryNow(): void {
    this.#server.retryNow();
    this.#worker?.retryNow();
  }

  #adopt({ state, server, worker }: Living): void {
    if (server) this.#server.adopt(server);
    if (!worker || !this.#worker) return;
    // Of a worker that only its own file names it is not known which server it was told of.
    this.#workerAddress = state?.worker?.address ?? (server ? grpcAddress(this.#ports) : '');
    this.#worker.adopt(worker);
  }

  #serverHooks(): PartHooks {
    const { home, env, log } = this.#options;
    return {
      ...this.#commonHooks(),
      name: 'server',
      graceMs: SERVER_GRACE_MS,
      wanted: () => true,
      launch: async (record) => {
        this.#ports = await choosePorts(home.root, this.#ports);
        return await launchServer(
          { home, env, ports: this.#ports, binary: this.#binary },
          async (identity, binary) => {
            this.#binary = binary;
            await record(identity);
          },
        );
      },
      untilReady: async (_identity, signal) => await untilServerReady(grpcAddress(this.#ports), signal, log),
    };
  }

  #workerHooks(entry: string): PartHooks {
    const { home, env } = this.#options;
    return {
      ...this.#commonHooks(),
      name: 'worker',
      graceMs: WORKER_GRACE_MS,
      wanted: () => this.#server.ready,
      launch: async (record) => {
        this.#workerAddress = grpcAddress(this.#ports);
        return await launchWorker({ home, env, entry, address: this.#workerAddress }, record);
      },
      untilReady: async (identity, signal) => await untilWorkerReady(home, identity, signal),
      untilHung: async (signal) => await untilHung(home.liveSocket, signal),
    };
  }

  #commonHooks(): Pick<PartHooks, 'record' | 'changed' | 'wake' | 'log'> {
    return {
      record: async () => await this.#save(),
      changed: async () => void (await this.#trySave()),
      wake: () => this.#wake.abort(),
      log: this.#options.log,
    };
  }

  /** The server had to take another port: a worker that was told of the old one is replaced. */
  #replaceMisdirectedWorker(): void {
    const worker = this.#worker?.process;
    if (!worker || this.#replacingWorker || !this.#server.ready) return;
    if (this.#workerAddress !== grpcAddress(this.#ports)) void this.#endMisdirected(worker);
  }

  async #endMisdirected(worker: ProcessIdentity): Promise<void> {
    this.#options.log('replacing the worker, which knows another address', { address: this.#workerAddress });
    this.#replacingWorker = true;
    try {
      await stopProcess(worker, WORKER_GRACE_MS);
    } finally {
      this.#replacingWorker = false;
    }
  }

  /** Writes the state again if it was removed or changed. False when the home itself is gone. */
  async #keepStateFile(): Promise<boolean> {
    const found = await readFileIfThere(this.#options.home.stateFile);
    return found === this.#written || (await this.#trySave());
  }

  /** False when the home is gone. Any other failure is logged: a full disk passes, and what runs goes on. */
  async #trySave(): Promise<boolean> {
    try {
      await this.#save();
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      this.#options.log('cannot write the state file', { error: String(error) });
    }
    return true;
  }

  async #save(): Promise<void> {
    const { home } = this.#options;
    const write = async (): Promise<void> => {
      this.#written = await writeState(home, this.#state());
      await this.#options.onSaved?.();
    };
    // One after the other, the newest last; a failure is told to its caller and does not stop the next.
    const saved = this.#saving.then(write);
    this.#saving = saved.catch(() => {});
    await saved;
  }

  #state(): State {
    const { home, workerEntry } = this.#options;
    return {
      version: STATE_VERSION,
      home: home.root,
      supervisor: this.#self,
      ports: this.#ports,
      binary: this.#binary,
      server: this.#server.state(),
      worker:
        this.#worker === undefined || workerEntry === null
          ? null
          : { ...this.#worker.state(), entry: workerEntry, address: this.#workerAddress },
    };
  }

  async #rotateLogs(): Promise<void> {
    if (Date.now() - this.#rotatedAt < ROTATE_EVERY_MS) return;
    this.#rotatedAt = Date.now();
    for (const name of ['server', 'worker', 'supervisor'] as const) {
      await rotateIfLarge(logPath(this.#options.home, name)).catch((error: unknown) => {
        this.#options.log('cannot rotate a log', { name, error: String(error) });
      });
    }
  }

  async #pause(signal: AbortSignal): Promise<void> {
    await sleep(POLL_MS, undefined, { signal: this.#wake.signal }).catch(() => {});
    if (!signal.aborted) this.#wake = new AbortController();
  }
}
