/**
 * Which processes belong to a command. The one file that knows the platforms: /proc on Linux, `ps` on macOS.
 *
 * The runner leads a session and a process group of its own, so group members are found by its pid. The
 * kernel gives that number to nobody else while one member lives. When the runner is gone, a member must
 * also be of the runner's session, not older than the runner, and not marked as another operation's: the
 * number may have been used again since. Left over is this: between a check and the signal that follows
 * it, within microseconds, a whole group would have to end and its number be taken by a new one.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { bootId, identifyProcess, type ProcessIdentity } from '../../host/process.ts';
import { OPERATION_VARIABLE } from './start.ts';

const run = promisify(execFile);

/** A living process; zombies are not. */
export interface ProcessEntry {
  pid: number;
  group: number;
  /** Undefined where the platform does not tell. */
  session: number | undefined;
  /** As in ProcessIdentity. */
  start: string;
  name: string;
}

/** The members of a runner's group, itself excepted; none when its pid or boot is now another's. */
export async function listGroup(runner: ProcessIdentity, operation_id: string): Promise<ProcessEntry[]> {
  if (runner.boot !== (await bootId()) || groupIsEmpty(runner.pid)) return [];
  const leader = await identifyProcess(runner.pid);
  if (leader !== undefined && leader.start !== runner.start) return [];
  const members = (await listProcesses()).filter(
    (entry) => entry.group === runner.pid && entry.pid !== runner.pid,
  );
  if (leader !== undefined) return members;
  const ours = await Promise.all(members.map((entry) => maybeOf(entry, runner, operation_id)));
  return members.filter((_, index) => ours[index]);
}

/**
 * Processes of the operation that left its group (setsid), found by the mark in their environment. Linux
 * only: elsewhere, and where a program cleared its environment, they can't be found.
 */
export async function listStrays(runner: ProcessIdentity, operation_id: string): Promise<ProcessEntry[]> {
  if (process.platform !== 'linux' || runner.boot !== (await bootId())) return [];
  const others = (await listProcesses()).filter(
    (entry) => entry.group !== runner.pid && entry.pid !== process.pid,
  );
  const marks = await Promise.all(others.map((entry) => markOf(entry.pid)));
  return others.filter((_, index) => marks[index] === operation_id);
}

/** Whether a group has no process, zombies counted: false means that it is worth a look. */
function groupIsEmpty(group: number): boolean {
  try {
    process.kill(-group, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

async function maybeOf(entry: ProcessEntry, runner: ProcessIdentity, operation_id: string): Promise<boolean> {
  if (entry.session !== undefined && entry.session !== runner.pid) return false;
  if (process.platform !== 'linux') return true;
  if (Number(entry.start) < Number(runner.start)) return false;
  const mark = await markOf(entry.pid);
  return mark === operation_id || mark === 'unreadable';
}

/** The operation that a process was started for; `unreadable` also when its environment is empty. */
async function markOf(pid: number): Promise<string | undefined> {
  let environment: string;
  try {
    environment = await readFile(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return 'unreadable';
  }
  if (environment === '') return 'unreadable';
  const prefix = `${OPERATION_VARIABLE}=`;
  return environment
    .split('\0')
    .find((entry) => entry.startsWith(prefix))
    ?.slice(prefix.length);
}

function listProcesses(): Promise<ProcessEntry[]> {
  return process.platform === 'linux' ? listByProc() : listByPs();
}

async function listByProc(): Promise<ProcessEntry[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(pids.map(entryByProc));
  return entries.filter((entry) => entry !== undefined);
}

/** Undefined when the process has gone meanwhile, or is a zombie. */
async function entryByProc(pid: string): Promise<ProcessEntry | undefined> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  const name_end = stat.lastIndexOf(')');
  const fields = stat.slice(name_end + 2).split(' ');
  const [state = '', , group, session] = fields;
  if (state === 'Z' || state === 'X') return undefined;
  return {
    pid: Number(pid),
    group: Number(group),
    session: Number(session),
    start: fields[19] ?? '',
    name: stat.slice(stat.indexOf('(') + 1, name_end),
  };
}

async function listByPs(): Promise<ProcessEntry[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,pgid=,stat=,lstart=,comm='], {
    env: { ...process.env, LC_ALL: 'C', TZ: 'UTC0' },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout.split('\n').flatMap((line) => {
    const [pid, group, state = 'Z', ...rest] = line.trim().split(/\s+/);
    if (state.startsWith('Z')) return [];
    const start = rest.slice(0, 5).join(' ');
    return [
      { pid: Number(pid), group: Number(group), session: undefined, start, name: rest.slice(5).join(' ') },
    ];
  });
}
