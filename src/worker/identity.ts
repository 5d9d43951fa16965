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
  const known = read(identity);
  if (known === undefined || known.host !== host) return false;
  const boot = await bootId();
  if (boot.slice(0, BOOT_CHARS) !== known.boot) return true;
  return !(await isAlive({ pid: known.pid, start: known.start, boot }));
}

interface Identity {
  host: string;
  boot: string;
  pid: number;
  start: string;
}

/** The parts of an identity of our form; undefined for any other, which may hold anything. */
function read(identity: string): Identity | undefined {
  if (!/^[^/]+\/[^/]+\/[1-9]\d*\/[^/]+$/.test(identity)) return undefined;
  try {
    const [host = '', boot = '', pid, start = ''] = identity.split('/').map(decodeURIComponent);
    return { host, boot, pid: Number(pid), start };
  } catch {
    return undefined; // a per cent sign that encodes nothing
  }
}
