/** How an installation is brought up. */
export interface UpOptions {
  /** For server and worker, and to look for the binary; process.env if not given. */
  env?: NodeJS.ProcessEnv;
  /** Told one line before each step that takes time. */
  onProgress?: (line: string) => void;
  /** False: the server alone. */
  withWorker?: boolean;
  /** File that Node runs as the worker, in place of Holdfast's own. */
  workerEntry?: string;
}
