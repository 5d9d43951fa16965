import type { Handler } from '../context.ts';

/** `holdfast worker`: a worker in this process, until SIGTERM or Ctrl+C (worker/main.ts). */
export const worker: Handler = async () => {
  await import('../../worker/main.ts');
  return Number(process.exitCode ?? 0);
};
