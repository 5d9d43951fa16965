/** What `ensureUp` and the supervisor process agree on. */
import type { State } from './state.ts';

export interface SupervisorArguments {
  /** Real path of the home. */
  root: string;
  binary: State['binary'];
  /** File that Node runs as the worker; null: none. */
  worker_entry: string | null;
}

/** The supervisor's exit code when another one has the home. */
export const LOCK_HELD_EXIT_CODE = 3;
/** Makes the supervisor try at once what is waiting or crashed. */
export const RETRY_SIGNAL = 'SIGUSR2';
