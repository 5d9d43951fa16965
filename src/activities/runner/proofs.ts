/**
 * What is on disk about one attempt to run a command. In the operation's folder:
 *
 *   gate-N          the runner's entry: its pid, start time, boot (or `closed …`: it may never run)
 *   output-N        the spool: stdout and stderr as they came
 *   ended/N         the runner's last word: the exit code. A folder of its own, so that a watch on it is not
 *                   woken by every line of output
 *   stop-N.json     written before the first signal is sent: why the command is being stopped
 *
 * Times of day are the files' own (no clock is asked in sh, where it costs a process and has no fractions);
 * durations come from /proc/uptime where there is one, which no change of the clock can bend.
 */
import { readFile, stat } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../../host/files.ts';
import type { ProcessIdentity } from '../../host/process.ts';
import type { Intent, OperationRecord } from '../journal/operation.ts';

/** A gate without its text is torn at this age: on a busy disk a write may take its time. */
const TORN_AFTER_MS = 5_000;
const TORN_LOOK_EVERY_MS = 20;

/** What a runner runs. */
export interface RunnerPlan {
  command: string;
  /** Absolute path. */
  cwd: string;
}

/** The plan in a command's intent: all that its result is built from besides the proofs. */
export interface CommandPlan extends RunnerPlan {
  timeout_ms: number;
}

/** That the command was begun, and by which process. */
export interface GateEntry {
  runner: ProcessIdentity;
  at: Date;
  /** Seconds since boot; undefined where there is no /proc/uptime. */
  uptime: number | undefined;
}

/** `torn`: created, but its maker was killed before it wrote who it is. */
export type Gate =
  | { state: 'absent' }
  | { state: 'closed' }
  | { state: 'torn'; at: Date }
  | ({ state: 'entered' } & GateEntry);

/** The runner's record of the end. */
export interface Exit {
  /** As `$?` gave it: 128 + n when signal n ended the command. */
  code: number;
  at: Date;
  uptime: number | undefined;
}

/** Why a command was stopped. */
export type StopReason = 'timeout' | 'interrupt' | 'output_limit' | 'job_stop';

export interface Stop {
  reason: StopReason;
  at: string;
  /** How long the command had run by then. */
  after_ms: number;
}

/** The files of one attempt. */
export class CommandProofs {
  readonly record: OperationRecord;
  readonly attempt: number;

  constructor(record: OperationRecord, attempt: number) {
    this.record = record;
    this.attempt = attempt;
  }

  get gatePath(): string {
    return this.record.gatePath(this.attempt);
  }

  get spoolPath(): string {
    return this.record.path(`output-${this.attempt}`);
  }

  get endedFolder(): string {
    return this.record.path('ended');
  }

  get exitPath(): string {
    return join(this.endedFolder, String(this.attempt));
  }

  /** This attempt's intent, or undefined when it wrote none (an older attempt's does not count). */
  async readIntent<Plan = CommandPlan>(): Promise<Intent<Plan> | undefined> {
    const intent = await this.record.readIntent<Plan>();
    return intent?.attempt === this.attempt ? intent : undefined;
  }

  async readGate(): Promise<Gate> {
    const file = await readStamped(this.gatePath);
    if (file === undefined) return { state: 'absent' };
    if (file.text.startsWith('closed')) return { state: 'closed' };
    const match = /^entered runner\npid (\d+)\nstart (.+)\nboot (.+)\nuptime (.+)\nend\n$/.exec(file.text);
    if (match === null) return { state: 'torn', at: file.at };
    const [, pid = '', start = '', boot = '', up = ''] = match;
    return { state: 'entered', runner: { pid: Number(pid), start, boot }, at: file.at, uptime: seconds(up) };
  }

  /** The gate once its maker has written it: `torn` in a young file means that the write is under way. */
  async settledGate(): Promise<Gate> {
    const give_up = performance.now() + TORN_AFTER_MS;
    for (;;) {
      const gate = await this.readGate();
      if (gate.state !== 'torn' || performance.now() >= give_up) return gate;
      if (Date.now() - gate.at.getTime() >= TORN_AFTER_MS) return gate;
      await delay(TORN_LOOK_EVERY_MS);
    }
  }

  /** The end, or undefined while it is not recorded in full. */
  async readExit(): Promise<Exit | undefined> {
    const file = await readStamped(this.exitPath);
    const match = /^exited (\d+)\nuptime (.+)\nend\n$/.exec(file?.text ?? '');
    if (file === undefined || match === null) return undefined;
    return { code: Number(match[1]), at: file.at, uptime: seconds(match[2] ?? '') };
  }

  async readStop(): Promise<Stop | undefined> {
    return this.record.readProof<Stop>(this.#stopName);
  }

  /** Records, durably, that the command is about to be stopped. The first reason stays. */
  async writeStop(reason: StopReason, after_ms: number): Promise<void> {
    if ((await this.readStop()) !== undefined) return;
    const stop: Stop = { reason, at: new Date().toISOString(), after_ms };
    await this.record.writeProof(this.#stopName, stop);
  }

  /** Bytes of output so far. */
  async spoolBytes(): Promise<number> {
    try {
      return (await stat(this.spoolPath)).size;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return 0;
      throw error;
    }
  }

  get #stopName(): string {
    return `stop-${this.attempt}.json`;
  }
}

/** How long a command of this boot has run by now; never negative. */
export function elapsedMs(gate: GateEntry): number {
  return gate.uptime === undefined ? since(gate.at, new Date()) : span(gate.uptime, uptime());
}

/** How long a command ran; never negative. */
export function durationMs(gate: GateEntry, exit: Exit): number {
  if (gate.uptime === undefined || exit.uptime === undefined) return since(gate.at, exit.at);
  return span(gate.uptime, exit.uptime);
}

interface StampedText {
  text: string;
  at: Date;
}

async function readStamped(path: string): Promise<StampedText | undefined> {
  try {
    const [text, { mtime }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    return { text, at: mtime };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function seconds(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function span(from_s: number, to_s: number): number {
  return Math.max(0, Math.round((to_s - from_s) * 1000));
}

function since(from: Date, to: Date): number {
  return Math.max(0, Math.round(to.getTime() - from.getTime()));
}
