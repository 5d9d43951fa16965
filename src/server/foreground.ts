/** `holdfast up --foreground`: the supervisor in the command's own process. */
import { pino } from 'pino';
import { prepareHome, type Home } from '../host/home.ts';
import { binaryFor, workerEntryOf } from './bringUp.ts';
import { readRunning, type RunningInstallation } from './running.ts';
import { needsWorker, type UpOptions } from './upOptions.ts';
import { InstallationError } from './installationError.ts';
import { logPath } from './logs.ts';
import { realHome } from './state.ts';
import { superviseUntil } from './supervise.ts';

/** See `runForeground`. Rejects with InstallationError when a supervisor runs in the background. */
export async function superviseInForeground(
  given: Home,
  options: UpOptions & { signal?: AbortSignal; onReady?: (running: RunningInstallation) => void },
): Promise<void> {
  await prepareHome(given);
  const home = await realHome(given);
  const logger = pino(
    { base: { pid: process.pid } },
    pino.destination({ dest: logPath(home, 'supervisor'), sync: true }),
  );
  const { signal, onReady, onProgress } = options;
  let announced = false;
  const announce = async (): Promise<void> => {
    const running = announced ? undefined : await readRunning(home, needsWorker(options));
    if (running === undefined || announced) return;
    announced = true;
    onReady?.(running);
  };
  const ended = await superviseUntil({
    home,
    binary: await binaryFor(options),
    workerEntry: workerEntryOf(options),
    env: options.env ?? process.env,
    stopSignals: ['SIGINT', 'SIGTERM', 'SIGHUP'],
    log: (line, fields) => {
      logger.info(fields ?? {}, line);
      onProgress?.(fields === undefined ? line : `${line} ${JSON.stringify(fields)}`);
    },
    onSaved: announce,
    ...(signal && { signal }),
  });
  if (ended === 'lock held') {
    throw new InstallationError(
      `Expected no supervisor for ${home.root}, found one in the background. Run \`holdfast down\` first, or use that one.`,
    );
  }
}
