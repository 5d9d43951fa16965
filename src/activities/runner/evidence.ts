/** What is known of a command without a result, in the words that the model and the user are told. */
import { open } from 'node:fs/promises';
import { hasCode } from '../../host/files.ts';
import { bootId } from '../../host/process.ts';
import type { Intent } from '../journal/operation.ts';
import { takeEnd } from '../tools/utf8.ts';
import type { Ended } from './observe.ts';
import { listGroup } from './processes.ts';
import { elapsedMs, type CommandProofs, type GateEntry, type Stop } from './proofs.ts';
import { exitWords, processWords, secondsOf } from './words.ts';

/** How much of the output's end is shown: the rest of EVIDENCE_MAX_BYTES is for the words. */
const TAIL_MAX_BYTES = 2 * 1024;

export const NOT_RUN_EVIDENCE =
  'The command was not run: no process had begun it, and its gate is closed now, so that none can begin it any more.';

/** Of a command whose end is known. */
export function endedEvidence({ gate, exit, stop }: Ended): string {
  const start = `The command was started at ${gate.at.toISOString()} by runner process ${gate.runner.pid}`;
  const stopped = stop === undefined ? '' : `, was being stopped (${stop.reason}) since ${stop.at}`;
  const end =
    exit === undefined
      ? ' and is gone; it left no exit code.'
      : ` and ended at ${exit.at.toISOString()} with ${exitWords(exit.code)}. This is its real result.`;
  return start + stopped + end;
}

/** Of a command that goes on. */
export async function runningEvidence(
  proofs: CommandProofs,
  gate: GateEntry,
  stop: Stop | undefined,
): Promise<string> {
  const start = `The command is still running: started at ${gate.at.toISOString()}, ${secondsOf(elapsedMs(gate))} ago, by runner process ${gate.runner.pid}.`;
  const stopped = stop === undefined ? '' : ` It was being stopped (${stop.reason}) since ${stop.at}.`;
  return `${start}${stopped} Output so far: ${await proofs.spoolBytes()} bytes.`;
}

/** Of an intent from before a restart of the machine, without a sign that the command was begun. */
export async function rebootEvidence(proofs: CommandProofs, intent: Intent): Promise<string> {
  return [
    `The command was about to be started at ${intent.at}. There is no record that it was, but the machine has been restarted since, and what was written shortly before that may be lost.`,
    'Whether the command ran, wholly or in part, is not known. It does not run now and will not.',
    await outputEvidence(proofs),
  ].join('\n');
}

/** Of a gate that says nothing. */
export async function tornEvidence(proofs: CommandProofs, intent: Intent | undefined): Promise<string> {
  const about = intent === undefined ? '' : ` It was about to be started at ${intent.at}.`;
  return [
    `Whether the command ran is not known.${about} The file that marks its start is there but is not complete (${proofs.gatePath}): its writer was killed while it wrote it, or the disk was full.`,
    await outputEvidence(proofs),
  ].join('\n');
}

/** Of a command whose runner is gone without a word. */
export async function lostEvidence(proofs: CommandProofs, gate: GateEntry): Promise<string> {
  const rebooted = gate.runner.boot !== (await bootId());
  const left = await listGroup(gate.runner, proofs.record.operation_id);
  return [
    `The command was started at ${gate.at.toISOString()} by runner process ${gate.runner.pid}. That process is gone and left no record of the end${rebooted ? ': the machine has been restarted since' : ''}.`,
    'How the command ended, and with which exit code, is not known: it may have done all, a part or nothing of its work.',
    left.length > 0
      ? `Processes of it that still run now: ${processWords(left)}.`
      : 'No process of its process group runs now.',
    await outputEvidence(proofs),
  ].join('\n');
}

/** The end of the output so far, and how much there is of it. */
export async function outputEvidence(proofs: CommandProofs): Promise<string> {
  const { bytes, tail } = await readTail(proofs.spoolPath);
  if (bytes === 0) return 'Its output so far is empty.';
  const shown = tail.byteLength < bytes ? `, the last ${tail.byteLength}` : '';
  return `Its output so far (${bytes} bytes${shown}):\n${takeEnd(tail, TAIL_MAX_BYTES).text}`;
}

async function readTail(path: string): Promise<{ bytes: number; tail: Buffer }> {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const length = Math.min(size, TAIL_MAX_BYTES);
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return { bytes: size, tail: buffer.subarray(0, bytesRead) };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { bytes: 0, tail: Buffer.alloc(0) };
    throw error;
  }
}
