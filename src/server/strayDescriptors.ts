/**
 * A background process must not keep open what its caller had open by chance: whoever reads from such a
 * pipe would wait for its end as long as the server runs. Node marks the first ones itself at its start
 * (`uv_disable_stdio_inheritance`: up to the first gap after 16); this closes the rest on Linux. On macOS
 * libuv starts children with POSIX_SPAWN_CLOEXEC_DEFAULT, so none gets through.
 */
import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** O_CLOEXEC in /proc/PID/fdinfo (proc_pid_fdinfo(5)). All descriptors that Node itself opens have it. */
const CLOSE_ON_EXEC = 0o2000000;

/** What is inherited is open for good; what the runtime opens for a moment (OpenSSL its configuration) is not. */
const STAYS_OPEN_MS = 20;

/** Closes inherited descriptors above 2. To be called before anything else opens some. */
export function closeStrayDescriptors(): void {
  if (process.platform !== 'linux') return;
  const before = inheritedDescriptors();
  if (before.size === 0) return;
  // A descriptor that is closed under another thread is closed by it again, when its number means another file.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STAYS_OPEN_MS);
  for (const [fd, file] of inheritedDescriptors()) if (before.get(fd) === file) closeSync(fd);
}

/** By number, each with what it is open on. */
function inheritedDescriptors(): Map<number, string> {
  const found = new Map<number, string>();
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    const file = fd > 2 ? inheritedFile(fd) : undefined;
    if (file !== undefined) found.set(fd, file);
  }
  return found;
}

function inheritedFile(fd: number): string | undefined {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
    const inherited = flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
    return inherited ? readlinkSync(`/proc/self/fd/${fd}`) : undefined;
  } catch {
    return undefined; // closed since, as the one by which the folder was listed
  }
}
