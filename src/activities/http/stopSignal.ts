/** When a request is given up: at an interrupt at once, when its time is over, or soon after a worker stops. */

/** A request can't be attached by the next worker, so its answer is worth a short wait. */
const SHUTDOWN_PATIENCE_MS = 3_000;

/** Aborts with an error whose message says why. Dispose it when the request is over. */
export function stopSignal(signal: AbortSignal, timeout_ms: number): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const end = (why: string): void => controller.abort(new Error(why));
  const timers = [setTimeout(end, timeout_ms, `it took more than ${timeout_ms} ms`)];
  const onAbort = (): void => {
    const { reason } = signal as { reason: unknown };
    if (reason instanceof Error && reason.name === 'WorkerShutdown')
      timers.push(setTimeout(end, SHUTDOWN_PATIENCE_MS, 'the worker was stopped'));
    else end('the run was interrupted');
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    },
  };
}
