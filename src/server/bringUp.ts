/** The slow way up: a supervisor is started if none lives, and all is waited for. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PRIVATE_FILE_MODE } from '../host/files.ts';
import { prepareHome, type Home } from '../host/home.ts';
import { SealedFileError } from '../host/sealedFile.ts';
import { findTemporal } from './binary.ts';
import { readRunning, type RunningInstallation } from './running.ts';
import { needsWorker, type UpOptions } from './upOptions.ts';
import { InstallationError } from './installationError.ts';
import { readLiving, type Living } from './living.ts';
import { logPath, quoteLog } from './logs.ts';
import { readState, realHome, type PartState, type State } from './state.ts';
import { signalProcess } from './stopProcess.ts';
import { LOCK_HELD_EXIT_CODE, RETRY_SIGNAL, type SupervisorArguments } from './supervisorArguments.ts';

/** From the start of the supervisor; a cold start takes 2 s. */
const UP_TIMEOUT_MS = 60_000;
const POLL_MS = 20;
/** Another supervisor has the home and does not say so yet, or `down` is at work. */
const LOCK_HELD_PAUSE_MS = 200;
/** This many deaths in a row (5 s of them), and waiting longer is of no use. */
const GIVE_UP_DEATHS = 5;

/** See `ensureUp`. */
export async function bringUp(given: Home, options: UpOptions): Promise<RunningInstallation> {
  await prepareHome(given);
  const home = await realHome(given);
  const withWorker = needsWorker(options);
  let binary: State['binary'] | undefined;
  let before: DeathCounts | undefined;
  let deadline = Date.now() + UP_TIMEOUT_MS;
  for (;;) {
    const running = await readRunning(home, withWorker);
    if (running !== undefined) return running;
    const living = await readIfWhole(home);
    if (living?.supervisor === undefined) {
      if (binary === undefined) {
        binary = await binaryFor(options);
        deadline = Date.now() + UP_TIMEOUT_MS; // the search may have been a download
      }
      options.onProgress?.('Starting the Temporal server and the worker');
      await startSupervisor(home, binary, options);
    } else {
      before ??= await retryWhatWaits(living);
      await refuseHopeless(home, living, withWorker, before);
    }
    if (Date.now() > deadline) throw await timeoutError(home);
    await sleep(POLL_MS);
  }
}

/** The worker's entry beside this file: `.ts` from source, `.js` when built. */
export function workerEntryOf(options: UpOptions): string | null {
  if (options.withWorker === false) return null;
  return options.workerEntry ?? beside('../worker/main');
}

export async function binaryFor(options: UpOptions): Promise<State['binary']> {
  const { path, version, serverVersion } = await findTemporal({
    ...(options.env && { env: options.env }),
    ...(options.onProgress && { onProgress: options.onProgress }),
  });
  return { path, version, server_version: serverVersion };
}

/** Starts it, and resolves when the state file names it or it has ended because another one has the home. */
async function startSupervisor(home: Home, binary: State['binary'], options: UpOptions): Promise<void> {
  const config: SupervisorArguments = { root: home.root, binary, worker_entry: workerEntryOf(options) };
  const log = await open(logPath(home, 'supervisor'), 'a', PRIVATE_FILE_MODE);
  let child: ChildProcess;
  try {
    child = spawn(process.execPath, [beside('./supervisorMain'), JSON.stringify(config)], {
      // A session of its own, no terminal, and the home as its folder, so that nothing of the caller is held.
      detached: true,
      cwd: home.root,
      stdio: ['ignore', log.fd, log.fd],
      env: options.env ?? process.env,
    });
    await once(child, 'spawn');
  } finally {
    await log.close();
  }
  child.unref();
  await untilNamed(home, child);
}

async function untilNamed(home: Home, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    const state = await readState(home).catch(() => undefined);
    if (state?.supervisor.pid === child.pid) return;
    await sleep(POLL_MS);
  }
  if (child.exitCode === LOCK_HELD_EXIT_CODE) {
    await sleep(LOCK_HELD_PAUSE_MS);
    return;
  }
  // Killed by somebody, not ended by itself: the loop of `bringUp` starts another one.
  if (child.signalCode !== null) return;
  throw new InstallationError(
    `Expected the supervisor to start, found that it ended at once (exit code ${child.exitCode}). ${await quoteLog(logPath(home, 'supervisor'))}`,
  );
}

/** Undefined when the state file is torn: a supervisor writes it anew. */
async function readIfWhole(home: Home): Promise<Living | undefined> {
  return await readLiving(home).catch((error: unknown) => {
    if (error instanceof SealedFileError) return undefined;
    throw error;
  });
}

/** Resolves with the deaths until then. */
async function retryWhatWaits({ state, supervisor }: Living): Promise<DeathCounts> {
  const waits = [state?.server, state?.worker].some(
    (part) => part?.phase === 'waiting' || part?.phase === 'crashed',
  );
  if (waits && supervisor) await signalProcess(supervisor, RETRY_SIGNAL);
  return { server: state?.server.deaths, worker: state?.worker?.deaths };
}

type DeathCounts = Record<'server' | 'worker', number | undefined>;

async function refuseHopeless(
  home: Home,
  { state }: Living,
  withWorker: boolean,
  before: DeathCounts,
): Promise<void> {
  if (withWorker && state?.worker === null) {
    throw new InstallationError(
      `Expected a worker in ${home.root}, found that it was started without one. Run \`holdfast down\`, then \`holdfast up\`.`,
    );
  }
  for (const name of ['server', 'worker'] as const) {
    const part = state?.[name];
    if (!part || !isHopeless(part, before[name]) || (name === 'worker' && !withWorker)) continue;
    throw new InstallationError(
      `Expected the ${name} to run, found that it died ${part.deaths} times in a row (last: ${part.last_exit}). It is tried again later by itself, and by \`holdfast up\`. ${await quoteLog(logPath(home, name))}`,
    );
  }
}

/** Deaths from before this command say nothing: what died is tried again now, or is on its way up. */
function isHopeless({ deaths }: PartState, before: number | undefined): boolean {
  return deaths >= GIVE_UP_DEATHS && deaths !== before;
}

async function timeoutError(home: Home): Promise<InstallationError> {
  const state = await readState(home).catch(() => undefined);
  const waitsFor = state?.server.phase === 'ready' ? 'worker' : state === undefined ? 'supervisor' : 'server';
  return new InstallationError(
    `Expected the ${waitsFor} to be ready within ${UP_TIMEOUT_MS / 1000} s, found it ${state === undefined ? 'not started' : (state[waitsFor === 'worker' ? 'worker' : 'server']?.phase ?? 'not started')}. Run \`holdfast doctor\`. ${await quoteLog(logPath(home, waitsFor))}`,
  );
}

function beside(path: string): string {
  return fileURLToPath(new URL(`${path}${extname(import.meta.url)}`, import.meta.url));
}
