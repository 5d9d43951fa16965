/** How the supervisor starts the Temporal server, and when the server counts as ready. */
import type { ChildProcess } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Home } from '../host/home.ts';
import type { ProcessIdentity } from '../host/process.ts';
import { findTemporal } from './binary.ts';
import { launchRecorded } from './launch.ts';
import { logPath } from './logs.ts';
import { prepareNamespace } from './namespace.ts';
import { EMBEDDED_NAMESPACE, serverArguments, serverEnvironment, type Ports } from './serverCommand.ts';
import { untilServing } from './serving.ts';
import type { State } from './state.ts';

const PREPARE_RETRY_MS = 500;

type Binary = State['binary'];

export interface ServerLaunch {
  home: Home;
  env: NodeJS.ProcessEnv;
  ports: Ports;
  binary: Binary;
}

/** Starts the server; looks for the binary again if it has been removed since. */
export async function launchServer(
  { home, env, ports, binary }: ServerLaunch,
  record: (identity: ProcessIdentity, binary: Binary) => Promise<void>,
): Promise<ChildProcess> {
  const usable = (await isThere(binary.path)) ? binary : await findAgain(env);
  return await launchRecorded(
    {
      program: usable.path,
      args: serverArguments(ports, home.databaseFile),
      env: serverEnvironment(env),
      cwd: home.root,
      logFile: logPath(home, 'server'),
      privateFiles: true,
    },
    async (identity) => await record(identity, usable),
  );
}

/** Waits until the server answers and its namespace is as sessions need it. Rejects when aborted. */
export async function untilServerReady(
  address: string,
  signal: AbortSignal,
  log: (line: string, fields?: object) => void,
): Promise<void> {
  for (;;) {
    const connection = await untilServing(address, EMBEDDED_NAMESPACE, signal);
    try {
      const { problems } = await prepareNamespace(connection, EMBEDDED_NAMESPACE);
      for (const problem of problems) log(problem);
      return;
    } catch (error) {
      log('cannot prepare the namespace yet', { error: String(error) });
    } finally {
      await connection.close();
    }
    await sleep(PREPARE_RETRY_MS, undefined, { signal });
  }
}

async function isThere(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function findAgain(env: NodeJS.ProcessEnv): Promise<Binary> {
  const { path, version, serverVersion } = await findTemporal({ env });
  return { path, version, server_version: serverVersion };
}
