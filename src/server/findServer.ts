/**
 * Finds the server that works on a database by its command line: for the rare case that it lives and the
 * state file that named it is lost. A second server on the same database must never be started.
 */
import { readdir, readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { identifyProcess, type ProcessIdentity } from '../host/process.ts';
import type { Ports } from './serverCommand.ts';

/** The living server on `databaseFile` and its ports, or undefined. */
export async function findServer(
  databaseFile: string,
): Promise<{ process: ProcessIdentity; ports: Ports } | undefined> {
  for (const { pid, args } of await commandLines()) {
    if (!args.includes('start-dev') || valueOf(args, '--db-filename') !== databaseFile) continue;
    const ports = portsOf(args);
    const process = await identifyProcess(pid);
    if (ports !== undefined && process !== undefined) return { process, ports };
  }
  return undefined;
}

interface CommandLine {
  pid: number;
  args: string[];
}

async function commandLines(): Promise<CommandLine[]> {
  return process.platform === 'linux' ? await commandLinesOnLinux() : await commandLinesByPs();
}

async function commandLinesOnLinux(): Promise<CommandLine[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map(async (pid) => {
      // Any of them may end meanwhile, or belong to somebody else.
      const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return { pid: Number(pid), args: text.split('\0') };
    }),
  );
  return lines;
}

/** `ps` joins the arguments with blanks; a database path that holds some is put together by valueOf. */
async function commandLinesByPs(): Promise<CommandLine[]> {
  const { stdout } = await execa('ps', ['-axww', '-o', 'pid=,command='], { stdin: 'ignore' });
  return stdout.split('\n').map((line) => {
    const [pid, ...args] = line.trim().split(' ');
    return { pid: Number(pid), args };
  });
}

function valueOf(args: string[], flag: string): string | undefined {
  const at = args.indexOf(flag);
  if (at === -1) return undefined;
  const end = args.findIndex((arg, index) => index > at + 1 && arg.startsWith('--'));
  return args.slice(at + 1, end === -1 ? undefined : end).join(' ');
}

function portsOf(args: string[]): Ports | undefined {
  const [grpc, ui, http, metrics] = ['--port', '--ui-port', '--http-port', '--metrics-port'].map((flag) =>
    Number(valueOf(args, flag)),
  );
  return grpc && ui && http && metrics ? { grpc, ui, http, metrics } : undefined;
}
