import { previewContext } from '../../client/preview.ts';
import { resolveId } from '../../client/resolve.ts';
import { count, plural, printable } from '../../ui/text.ts';
import { withService, type Handler } from '../context.ts';

/** `holdfast context ID`: what the next model call would be sent; calls no model. */
export const context: Handler = async (commandContext, [id = ''], options) => {
  const preview = await withService(commandContext, async (service) =>
    previewContext(service, await resolveId(service, id)),
  );
  const { screen } = commandContext;
  if (options['json'] === true) {
    screen.json(preview);
    return 0;
  }
  for (const message of preview.messages) screen.print(printable(JSON.stringify(message, null, 2)));
  const about = `${plural(preview.messages.length, 'message')}, ${plural(preview.tools.length, 'tool')}`;
  screen.note(`${about}, about ${count(preview.tokens_estimate)} tokens, digest ${preview.digest}`);
  return 0;
};
