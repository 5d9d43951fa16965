import { EXIT, HoldfastError } from '../../client/errors.ts';
import { listSessions } from '../../client/list.ts';
import { COMMANDS } from '../commands.ts';
import { completionScript, type Shell } from '../completionScript.ts';
import { withService, type Handler } from '../context.ts';

const SHELLS = ['bash', 'zsh', 'fish'];
const IDS_MAX = 200;

/** `holdfast completion SHELL`: the script, on stdout. */
export const completion: Handler = async ({ screen }, [shell = '']) => {
  if (!SHELLS.includes(shell)) {
    throw new HoldfastError(
      'usage',
      `Expected bash, zsh or fish, found ${JSON.stringify(shell)}.`,
      'For example: `source <(holdfast completion bash)`.',
    );
  }
  screen.write(completionScript(shell as Shell, COMMANDS));
  return EXIT.done;
};

/** Ids and titles for the scripts. Starts nothing and says nothing when nothing runs. */
export const completeIds: Handler = async (context) => {
  const { readRunning } = await import('../../server/installation.ts');
  const { usesExistingService } = await import('../../client/endpoint.ts');
  if (!usesExistingService(context.env) && (await readRunning(context.home, false)) === undefined)
    return EXIT.done;
  const found = await withService(
    context,
    async (service) => listSessions(service, { status: 'all', limit: IDS_MAX }),
    { worker: false },
  );
  for (const { session_id, title } of found)
    context.screen.print(`${session_id}\t${title.replaceAll(/\s+/g, ' ')}`);
  return EXIT.done;
};
