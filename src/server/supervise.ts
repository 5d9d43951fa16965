/** Runs a supervisor in this process until a signal ends it: in the background process, and in the foreground. */
import { acquireLock } from './lock.ts';
import { Supervisor, type SupervisorOptions } from './supervisor.ts';
import { RETRY_SIGNAL } from './supervisorArguments.ts';

export interface SuperviseOptions extends SupervisorOptions {
  stopSignals: NodeJS.Signals[];
  /** Ends it as a signal does. */
  signal?: AbortSignal;
}

/** Resolves when everything is stopped, or at once with `lock held` when another supervisor has the home. */
export async function superviseUntil(options: SuperviseOptions): Promise<'stopped' | 'lock held'> {
  const lock = await acquireLock(options.home);
  if (lock === undefined) return 'lock held';
  const stop = new AbortController();
  let supervisor: Supervisor | undefined;
  const onStop = (): void => stop.abort();
  const onRetry = (): void => supervisor?.retryNow();
  // Before the state file names this process: from then on it is sent these signals.
  for (const name of options.stopSignals) process.on(name, onStop);
  process.on(RETRY_SIGNAL, onRetry);
  try {
    process.chdir(options.home.root);
    supervisor = await Supervisor.start(options);
    await supervisor.run(options.signal ? AbortSignal.any([stop.signal, options.signal]) : stop.signal);
    return 'stopped';
  } finally {
    for (const name of options.stopSignals) process.off(name, onStop);
    process.off(RETRY_SIGNAL, onRetry);
    lock.release();
  }
}
