/** How far an attempt to run a command came, as far as its proofs and the process table can tell. */
import { isAlive } from '../../host/process.ts';
import { listGroup } from './processes.ts';
import type { CommandProofs, Exit, GateEntry, Stop } from './proofs.ts';

/** A command that is over: it ended by itself, or it was being stopped and is gone. */
export type Ended = { state: 'ended'; gate: GateEntry } & (
  | { stop: undefined; exit: Exit }
  | { stop: Stop; exit: Exit | undefined }
);

/**
 * `absent`: nobody entered the gate. `closed`: nobody ever will. `torn`: somebody did, and was killed
 * before saying who. `lost`: the runner is gone and left no record of the end.
 */
export type Observation =
  | { state: 'absent' | 'closed' | 'torn' }
  | { state: 'running'; gate: GateEntry; stop: Stop | undefined }
  | Ended
  | { state: 'lost'; gate: GateEntry };

/** Looks, and changes nothing. Rejects when a proof can't be read. */
export async function observe(proofs: CommandProofs): Promise<Observation> {
  const gate = await proofs.readGate();
  if (gate.state !== 'entered') return gate;
  const ended = await readEnd(proofs, gate);
  if (ended !== undefined) return ended;
  if (await isAlive(gate.runner)) return { state: 'running', gate, stop: await proofs.readStop() };
  // It may have recorded the end between the two looks: so look again, now that it is gone.
  return (await readEnd(proofs, gate)) ?? observeGone(proofs, gate);
}

async function readEnd(proofs: CommandProofs, gate: GateEntry): Promise<Ended | undefined> {
  const [exit, stop] = await Promise.all([proofs.readExit(), proofs.readStop()]);
  if (exit === undefined) return undefined;
  return stop === undefined ? { state: 'ended', gate, exit, stop } : { state: 'ended', gate, exit, stop };
}

async function observeGone(proofs: CommandProofs, gate: GateEntry): Promise<Observation> {
  const stop = await proofs.readStop();
  if (stop === undefined) return { state: 'lost', gate };
  const left = await listGroup(gate.runner, proofs.record.operation_id);
  return left.length > 0 ? { state: 'running', gate, stop } : { state: 'ended', gate, exit: undefined, stop };
}
