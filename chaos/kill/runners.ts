/** The runners of a home's commands, as the process table shows them. Linux. */
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

export interface LivingRunner {
  pid: number;
  operation_id: string;
}

/** `journal`: the home's folder of operations, which stands in a runner's arguments. */
export async function listRunners(journal: string): Promise<LivingRunner[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(async (pid) => runnerAt(Number(pid), journal)));
  return found.filter((runner) => runner !== undefined).toSorted((a, b) => a.pid - b.pid);
}

async function runnerAt(pid: number, journal: string): Promise<LivingRunner | undefined> {
  const args = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  const gate = args[args.indexOf('holdfast-runner') + 1];
  if (!args.includes('holdfast-runner') || !gate?.startsWith(`${journal}/`)) return undefined;
  // A runner leads its session; what it has forked a moment ago still has its arguments.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(session) === pid ? { pid, operation_id: basename(dirname(gate)) } : undefined;
}
