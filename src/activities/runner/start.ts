/** Starts the runner of a command: a process of its own session that shares nothing with this one. */
import { spawn, type ChildProcess } from 'node:child_process';
import { open } from 'node:fs/promises';
import { makePrivateFolder, PRIVATE_FILE_MODE } from '../../host/files.ts';
import { bootId } from '../../host/process.ts';
import { reached } from '../../host/faults.ts';
import type { CommandProofs, RunnerPlan } from './proofs.ts';
import { RUNNER_ARGUMENT, RUNNER_SCRIPT, RUNNER_VARIABLES } from './script.ts';

/** Marks every process of an operation, also those that leave its process group. */
export const OPERATION_VARIABLE = 'HOLDFAST_OPERATION_ID';

/** The runner as this process's child. Once this process is gone, it lives on and is known by its gate. */
export interface RunnerChild {
  pid: number;
  /** Settles when it has ended, however. */
  ended: Promise<void>;
}

/**
 * Spawns the runner; it runs the command unless its gate is closed first. The intent must have been
 * recorded before. Rejects when no process could be made: then nothing was run.
 */
export async function startRunner(
  proofs: CommandProofs,
  plan: RunnerPlan,
  env: NodeJS.ProcessEnv,
): Promise<RunnerChild> {
  await makePrivateFolder(proofs.endedFolder);
  // Appending: no process overwrites another's output, whoever of the group writes.
  const spool = await open(proofs.spoolPath, 'a', PRIVATE_FILE_MODE);
  try {
    const child = await spawned(
      spawn('/bin/sh', ['-c', RUNNER_ARGUMENT, 'holdfast-runner', proofs.gatePath, proofs.exitPath], {
        cwd: plan.cwd,
        env: {
          ...env,
          [OPERATION_VARIABLE]: proofs.record.operation_id,
          [RUNNER_VARIABLES.script]: RUNNER_SCRIPT,
          [RUNNER_VARIABLES.boot]: await bootId(),
          [RUNNER_VARIABLES.command]: plan.command,
        },
        detached: true,
        stdio: ['ignore', spool.fd, 'ignore'],
      }),
    );
    await reached('after_spawn');
    return child;
  } finally {
    await spool.close();
  }
}

function spawned(child: ChildProcess): Promise<RunnerChild> {
  child.unref();
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    const ended = new Promise<void>((end) => {
      child.once('exit', () => end());
    });
    child.once('spawn', () => resolve({ pid: child.pid ?? 0, ended }));
  });
}
