/**
 * A worker's identity in Temporal: `host/boot/pid/start-time`. A later worker of the same host reads it off a
 * pending activity and knows whether the process that began it still lives. It stands in eight events of each
 * step, so the boot id is shortened.
 */
import { bootId, identifyProcess, isAlive } from '../host/process.ts';

/** Enough to tell one boot of a machine from another. */
const BOOT_CHARS = 8;

/** The identity of this process. */
export async function ownIdentity(host: string): Promise<string> {
  const self = await identifyProcess(process.pid);
  const boot = (await bootId()).slice(0, BOOT_CHARS);
  return [host, boot, String(process.pid), self?.start ?? ''].map(encodeURIComponent).join('/');
}

/** Whether a worker was of this host and is gone. An identity of another host or form is not for us to judge. */
export async function isDeadWorkerOf(host: string, identity: string): Promise<boolean> {
  const [owner, boot, pid, start, ...rest] = identity.split('/').map(decodeURIComponent);
  if (owner !== host || boot === undefined || start === undefined || rest.length > 0) return false;
  const now = await bootId();
  if (now.slice(0, BOOT_CHARS) !== boot) return true;
  return !(await isAlive({ pid: Number(pid), start, boot: now }));
}
