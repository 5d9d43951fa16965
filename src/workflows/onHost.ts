/**
 * Calls that only the workspace's host can take. A host that does not answer is not an error of the call:
 * the session says that it waits, and goes on when the host returns or the workspace is bound elsewhere.
 */
import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import { neverStarted } from './failures.ts';
import type { SessionMachine } from './machine.ts';
import { hostActivities } from './proxies.ts';
import type { HostProxies } from './proxies.ts';

/** What the call resolves or rejects with; never that no worker took it. */
export async function onHost<T>(
  machine: SessionMachine,
  call: (host: HostProxies) => Promise<T>,
): Promise<T> {
  for (;;) {
    const { host } = machine.state.workspace;
    const moved = (): boolean => machine.state.workspace.host !== host;
    try {
      if (!machine.state.host_unreachable) return await call(hostActivities(host, machine.host_patience_ms));
      return await unless(moved, async () => call(hostActivities(host, null)));
    } catch (error) {
      if (isCancellation(error) && moved()) continue;
      if (!neverStarted(error)) throw error;
      if (!machine.state.host_unreachable) machine.emit({ type: 'host_unreachable', host });
    }
  }
}

/** Runs `work` and cancels it when the condition comes true. */
async function unless<T>(holds: () => boolean, work: () => Promise<T>): Promise<T> {
  const working = new CancellationScope();
  const watching = new CancellationScope();
  watching
    .run(async () => condition(holds))
    .then(() => working.cancel())
    .catch(() => {}); // the work was faster
  try {
    return await working.run(work);
  } finally {
    watching.cancel();
  }
}
