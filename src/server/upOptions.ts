/** How an installation is brought up. */
export interface UpOptions {
  /** For server and worker, and to look for the binary; process.env if not given. */
  env?: NodeJS.ProcessEnv;
  /** Told one line before each step that takes time. */
  onProgress?: (line: string) => void;
  /** False: the server alone, no worker is ever started (tests). */
  withWorker?: boolean;
  /** False: resolve when the server serves, while the worker is still on its way up. */
  waitForWorker?: boolean;
  /** File that Node runs as the worker, in place of Holdfast's own. */
  workerEntry?: string;
}

/** Whether it is up only when a worker is ready too. */
export function needsWorker({ withWorker, waitForWorker }: UpOptions): boolean {
  return withWorker !== false && waitForWorker !== false;
}
