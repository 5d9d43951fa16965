/** The commands that say one thing to a session and return. */
import { hostId } from '../../host/home.ts';
import { HoldfastError } from '../../client/errors.ts';
import { resolveId } from '../../client/resolve.ts';
import { archive, complete, interrupt, rebind, rename } from '../../client/send.ts';
import type { Service } from '../../client/service.ts';
import { withService, type Context, type Handler, type Options } from '../context.ts';
import { settingsFor } from '../settings.ts';
import { workspaceAt } from '../workspace.ts';

/** `holdfast interrupt ID`. */
export const interruptCommand: Handler = async (context, [id = ''], options) => {
  const by = (await settingsFor(context, options)).user.value;
  return tell(context, id, options, 'interrupt sent', async (service, session_id) =>
    interrupt(service, session_id, by),
  );
};

/** `holdfast rebind ID DIR`: to another folder, of this host. */
export const rebindCommand: Handler = async (context, [id = '', dir = ''], options) => {
  const path = await workspaceAt(dir);
  const by = (await settingsFor(context, options)).user.value;
  return tell(context, id, options, `bound to ${path}`, async (service, session_id) =>
    rebind(service, session_id, { host: await hostId(context.home), path }, by),
  );
};

/** `holdfast rename ID TITLE`. */
export const renameCommand: Handler = async (context, [id = '', ...words], options) => {
  const title = words.join(' ').trim();
  if (title === '') {
    throw new HoldfastError(
      'usage',
      'Expected a title, found nothing.',
      'Give one: `holdfast rename ID TITLE`.',
    );
  }
  return tell(context, id, options, 'renamed', async (service, session_id) =>
    rename(service, session_id, title),
  );
};

/** `holdfast complete ID`. */
export const completeCommand: Handler = async (context, [id = ''], options) =>
  tell(context, id, options, 'completed', complete);

/** `holdfast archive ID`. */
export const archiveCommand: Handler = async (context, [id = ''], options) =>
  tell(context, id, options, 'archived when its run has ended', archive);

async function tell(
  context: Context,
  id: string,
  options: Options,
  words: string,
  say: (service: Service, session_id: string) => Promise<void>,
): Promise<number> {
  const session_id = await withService(
    context,
    async (service) => {
      const resolved = await resolveId(service, id);
      await say(service, resolved);
      return resolved;
    },
    { worker: false },
  );
  if (options['json'] === true) context.screen.json({ session_id });
  else context.screen.note(`${session_id}: ${words}`);
  return 0;
}
