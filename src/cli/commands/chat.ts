import { planNew } from '../begin.ts';
import { chatLoop } from '../chat/chat.ts';
import { withService, type Handler } from '../context.ts';
import { promptOf } from '../prompt.ts';
import { sayDetached } from './run.ts';
import { settingsFor } from '../settings.ts';
import { workspaceAt } from '../workspace.ts';

/** `holdfast [PROMPT]`: a chat in a new session, which the first message makes. */
export const chat: Handler = async (context, words, options) => {
  const first = words.length === 0 ? undefined : await promptOf(words);
  const plan = await planNew(context, options, 'ask');
  const path = await workspaceAt(options['workspace'] as string | undefined);
  const settings = await settingsFor(context, options, path);
  return withService(context, async (service) => {
    if (options['detach'] === true && first !== undefined) {
      return sayDetached(context, await plan.begin(service, first), options);
    }
    const { screen } = context;
    if (screen.terminal.interactive) {
      const approval = settings.approval.value ?? 'ask';
      screen.print(screen.styles.dim(`${settings.model.value}, approval ${approval}, ${path}; /help`));
    }
    return chatLoop(context, service, {
      begin: async (text) => plan.begin(service, text),
      first,
      by: settings.user.value,
    });
  });
};
