/** A worker from start to stop: it says who it is, hands on what a dead one left, works, and lets go of its work. */
import { Client } from '@temporalio/client';
import { NativeConnection, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { hostId, prepareHome } from '../host/home.ts';
import type { Home } from '../host/home.ts';
import { identifyProcess } from '../host/process.ts';
import { removeWorkerFile, writeWorkerFile } from '../host/workerFile.ts';
import type { WorkerState } from '../host/workerFile.ts';
import { workflowBundle } from './bundle.ts';
import { createBus } from './bus.ts';
import { ownIdentity } from './identity.ts';
import { serveLive } from './live.ts';
import { logBus, temporalLogger } from './log.ts';
import { reap } from './reaper.ts';
import { createWorkers } from './workers.ts';

export interface WorkerEnvironment {
  home: Home;
  address: string;
  namespace: string;
  env: NodeJS.ProcessEnv;
  log: Logger;
  /** Aborted when the worker shall stop. */
  stop: AbortSignal;
}

/** Runs until `stop` is aborted and everything in hand has been finished or handed on. */
export async function runWorker({
  home,
  address,
  namespace,
  env,
  log,
  stop,
}: WorkerEnvironment): Promise<void> {
  await prepareHome(home);
  const host = await hostId(home);
  const identity = await ownIdentity(host);
  const say = await announcer(home, identity);
  await say('starting');
  // Signals are handled by the caller; the SDK's own handlers would end the process under it.
  Runtime.install({ shutdownSignals: [], logger: temporalLogger(log) });
  const bundlePath = await workflowBundle();
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection, namespace, identity });
  const bus = createBus();
  logBus(bus, log);
  const live = await serveLive(bus, home.liveSocket);
  const reaped = reap(client, host, log).catch((error: unknown) => {
    // Time-outs find the same a little later.
    log.error({ err: error }, 'could not look for what a dead worker left');
  });
  const workers = await createWorkers({
    home,
    host,
    identity,
    namespace,
    connection,
    client,
    bus,
    bundlePath,
    env,
  });
  const running = Promise.all(workers.map(async (worker) => worker.run()));
  await reaped;
  await say('ready');
  log.info({ identity, address }, 'worker is ready');
  await Promise.race([running, aborted(stop)]);
  await say('stopping');
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  await running;
  await live.close();
  await connection.close();
  await removeWorkerFile(home);
}

async function announcer(home: Home, identity: string): Promise<(state: WorkerState) => Promise<void>> {
  const self = await identifyProcess(process.pid);
  if (self === undefined)
    throw new Error(`Expected to find this process, ${process.pid}, in the system's process table.`);
  const started_at = new Date().toISOString();
  return async (state) => writeWorkerFile(home, { ...self, identity, started_at, state });
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
