/**
 * Planted faults, for trying recovery at exact moments: a file named after a point, in the folder that
 * HOLDFAST_FAULTS names, ends or freezes the process that reaches this point first. Without that variable
 * nothing is looked at.
 */
import { readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The moments between which a kill makes a difference. */
export type FaultPoint =
  /** A tool call was taken, nothing is recorded of it. */
  | 'before_intent'
  /** The intent is durable, its effect has not begun. */
  | 'after_intent'
  /** The gate was entered, the effect has not happened. */
  | 'after_gate'
  /** The command's runner was started. */
  | 'after_spawn'
  /** The effect is complete, the result is not reported. */
  | 'before_report'
  /** The model's reply has its receipt, the result is not reported. */
  | 'after_receipt'
  /** The segment is archived, continue-as-new has not happened. */
  | 'after_archive';

/** Content of the file: the signal that this process sends to itself. */
const SIGNALS = ['SIGKILL', 'SIGSTOP'] as const;

/** Ends or freezes this process when a fault is planted here; it strikes once. */
export async function reached(point: FaultPoint): Promise<void> {
  const folder = process.env['HOLDFAST_FAULTS'];
  if (folder === undefined || folder === '') return;
  const path = join(folder, point);
  const wanted = (await readFile(path, 'utf8').catch(() => '')).trim();
  const signal = SIGNALS.find((known) => known === wanted);
  if (signal === undefined) return;
  // Whoever removes the file is the one that it strikes.
  const mine = await unlink(path).then(
    () => true,
    () => false,
  );
  if (mine) process.kill(process.pid, signal);
}
