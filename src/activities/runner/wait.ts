/** Waits for the end of a command, and ends it when its time is over, it is interrupted or floods the disk. */
import type { RunnerChild } from './start.ts';
import { observe, type Ended, type Observation } from './observe.ts';
import { elapsedMs, type CommandProofs, type GateEntry, type StopReason } from './proofs.ts';
import { stopProcesses } from './stop.ts';
import { Fenced } from '../journal/operation.ts';
import { Wakeups } from './wakeups.ts';

/** Output of one command that is kept; a command that writes more is stopped before it fills the disk. */
export const SPOOL_MAX_BYTES = 1024 * 1024 * 1024;
/** How often the clock, the spool and the runner's life are looked at; the end itself is an event. */
const LOOK_EVERY_MS = 1_000;

/** The runner is gone and left no record of the end: ask `reconcile` what can be known. */
export class RunnerLost extends Error {
  constructor(operation_id: string, found: string) {
    super(`Expected the runner of ${operation_id} to record how its command ended; ${found}. Reconcile it.`);
    this.name = 'RunnerLost';
  }
}

/** The command was interrupted before its runner began it; it can't begin any more. */
export class NotStarted extends Error {
  readonly reason: StopReason;

  constructor(operation_id: string, reason: StopReason) {
    super(`The command of ${operation_id} was stopped before it was started: ${reason}.`);
    this.name = 'NotStarted';
    this.reason = reason;
  }
}

export interface WaitOptions {
  /** From the runner's own start, whoever waits. */
  timeout_ms: number;
  /** A reason named WorkerShutdown leaves the command alone; any other ends it. */
  signal: AbortSignal;
  /** Where this process started the runner itself; otherwise its files are watched. */
  child?: RunnerChild;
  /** Default SPOOL_MAX_BYTES. */
  output_max_bytes?: number;
}

/**
 * Resolves when the command has ended. Rejects with the signal's reason on a worker's shutdown (the command
 * goes on), with Fenced when its gate was closed, with NotStarted when it was interrupted before it began,
 * and with RunnerLost when nobody will ever record its end.
 */
export async function waitForEnd(proofs: CommandProofs, options: WaitOptions): Promise<Ended> {
  // Somebody else's runner may just be writing who it is.
  if (options.child === undefined) await proofs.settledGate();
  const wakeups = new Wakeups(proofs, options);
  try {
    return await watchOver(proofs, options, wakeups);
  } finally {
    wakeups.close();
  }
}

async function watchOver(proofs: CommandProofs, options: WaitOptions, wakeups: Wakeups): Promise<Ended> {
  const begun = performance.now();
  let left_ms = options.timeout_ms;
  for (;;) {
    await wakeups.next(Math.min(LOOK_EVERY_MS, Math.max(1, left_ms)));
    throwOnShutdown(options.signal);
    const child_ended = options.child === undefined || wakeups.childEnded;
    const now = await observe(proofs);
    if (now.state === 'ended') return now;
    if (now.state === 'lost') return giveUp(proofs, now.gate, options.signal);
    refuseToWait(proofs, now, child_ended);
    // Again: the worker may have begun to shut down while the proofs were looked at.
    throwOnShutdown(options.signal);
    const gate = now.state === 'running' ? now.gate : undefined;
    const ran_ms = gate === undefined ? Math.round(performance.now() - begun) : elapsedMs(gate);
    const reason = await reasonToStop(proofs, now, ran_ms, options);
    if (reason !== undefined) return stopCommand(proofs, reason, gate, ran_ms);
    left_ms = options.timeout_ms - ran_ms;
  }
}

/** The end will never be known; but of an interrupted command nothing shall live on. */
async function giveUp(proofs: CommandProofs, gate: GateEntry, signal: AbortSignal): Promise<never> {
  throwOnShutdown(signal);
  const { operation_id } = proofs.record;
  if (signal.aborted) await stopProcesses({ runner: gate.runner, operation_id });
  throw new RunnerLost(operation_id, 'it is gone and recorded nothing');
}

/** Ends a command for `reason` and resolves with what its proofs then say. */
async function stopCommand(
  proofs: CommandProofs,
  reason: StopReason,
  known: GateEntry | undefined,
  ran_ms: number,
): Promise<Ended> {
  const gate = known ?? (await shutOrFind(proofs, reason));
  await proofs.writeStop(reason, ran_ms);
  await stopProcesses({ runner: gate.runner, operation_id: proofs.record.operation_id });
  const now = await observe(proofs);
  if (now.state === 'ended') return now;
  throw new RunnerLost(proofs.record.operation_id, `it was sent KILL and is ${now.state}`);
}

/** Before the runner entered, the gate itself is the way to stop it. */
async function shutOrFind(proofs: CommandProofs, reason: StopReason): Promise<GateEntry> {
  const { operation_id } = proofs.record;
  if ((await proofs.record.closeGate(proofs.attempt)) === 'closed')
    throw new NotStarted(operation_id, reason);
  const gate = await proofs.settledGate();
  if (gate.state !== 'entered') throw new RunnerLost(operation_id, `its gate is ${gate.state}`);
  return gate;
}

function refuseToWait(proofs: CommandProofs, now: Observation, child_ended: boolean): void {
  const { operation_id } = proofs.record;
  if (now.state === 'closed') throw new Fenced(operation_id, proofs.attempt);
  if (now.state !== 'running' && child_ended) {
    throw new RunnerLost(operation_id, `its gate is ${now.state} and it is gone`);
  }
}

async function reasonToStop(
  proofs: CommandProofs,
  now: Observation,
  ran_ms: number,
  options: WaitOptions,
): Promise<StopReason | undefined> {
  if (now.state === 'running' && now.stop !== undefined) return now.stop.reason; // a dead worker began to stop it
  if (options.signal.aborted) return 'interrupt';
  if (ran_ms >= options.timeout_ms) return 'timeout';
  return (await proofs.spoolBytes()) > (options.output_max_bytes ?? SPOOL_MAX_BYTES)
    ? 'output_limit'
    : undefined;
}

/** Rejects a wait whose worker shuts down; the command itself goes on. */
export function throwOnShutdown(signal: AbortSignal): void {
  if (signal.aborted && signal.reason instanceof Error && signal.reason.name === 'WorkerShutdown') {
    throw signal.reason;
  }
}
