/**
 * Which process is it? A pid alone is used again after a while, so a process is named by its pid, the
 * time that it started and the boot it lives in.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { hasCode } from './files.ts';

const run = promisify(execFile);

/**
 * A process, unmistakably. `start` is the kernel's own figure as text: on Linux field 22 of
 * /proc/PID/stat (clock ticks since boot, proc_pid_stat(5)), on macOS `ps -o lstart=`.
 */
export interface ProcessIdentity {
  pid: number;
  start: string;
  boot: string;
}

/** The identity of a living process, or undefined when none has this pid. A zombie counts as gone. */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  const start = process.platform === 'linux' ? await startOnLinux(pid) : await startByPs(pid);
  return start === undefined ? undefined : { pid, start, boot: await bootId() };
}

/** Whether that very process still runs: same boot, same pid, same start time. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  if (identity.boot !== (await bootId())) return false;
  const now = await identifyProcess(identity.pid);
  return now !== undefined && now.start === identity.start;
}

/**
 * An id that changes with each boot: /proc/sys/kernel/random/boot_id on Linux, `kern.bootsessionuuid` on
 * macOS. HOLDFAST_BOOT_ID overrides it, which is how a reboot is simulated.
 */
export async function bootId(): Promise<string> {
  const override = process.env['HOLDFAST_BOOT_ID'];
  if (override !== undefined && override !== '') return override;
  if (process.platform === 'linux') return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  return (await run('sysctl', ['-n', 'kern.bootsessionuuid'])).stdout.trim();
}

async function startOnLinux(pid: number): Promise<string | undefined> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return undefined;
    throw error;
  }
  // The command's name, in parentheses, may hold blanks and parentheses itself: count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  return state === 'Z' || state === 'X' ? undefined : fields[19];
}

async function startByPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      // The time is text: in a fixed zone, or a traveller's processes would seem to be others.
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC0' },
    });
    const [state = '', ...start] = stdout.trim().split(/\s+/);
    return state === '' || state.startsWith('Z') ? undefined : start.join(' ');
  } catch {
    return undefined; // ps exits with 1 when there is no such process
  }
}
