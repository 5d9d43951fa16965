import { EXIT } from '../../client/errors.ts';
import { planExisting, planNew, type Begun } from '../begin.ts';
import { withService, type Context, type Handler, type Options } from '../context.ts';
import { followHeadless } from '../headless.ts';
import { promptOf } from '../prompt.ts';
import { settingsFor } from '../settings.ts';

/** `holdfast run PROMPT`. */
export const run: Handler = async (context, words, options) => {
  const text = await promptOf(words);
  const session = options['session'] as string | undefined;
  const plan =
    session === undefined
      ? await planNew(context, options, 'auto')
      : await planExisting(context, options, session);
  const by = (await settingsFor(context, options)).user.value;
  return withService(context, async (service) => {
    const begun = await plan.begin(service, text);
    if (options['detach'] === true) return sayDetached(context, begun, options);
    context.screen.note(context.screen.styles.dim(`session ${begun.session_id}`));
    return followHeadless(context, service, begun, options, by);
  });
};

/** `--detach`: the id, and nothing to wait for. */
export function sayDetached({ screen }: Context, begun: Begun, options: Options): number {
  const { session_id, message_id } = begun;
  if (options['json'] === true) screen.json({ session_id, message_id });
  else screen.print(session_id);
  return EXIT.done;
}
