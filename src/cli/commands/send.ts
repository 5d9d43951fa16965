import { resolveId } from '../../client/resolve.ts';
import { sendMessage } from '../../client/send.ts';
import { withService, type Handler } from '../context.ts';
import { promptOf } from '../prompt.ts';

/** `holdfast send ID TEXT`: accepted durably, also while no worker runs. */
export const send: Handler = async (context, [id = '', ...words], options) => {
  const text = await promptOf(words);
  const sent = await withService(
    context,
    async (service) => {
      const session_id = await resolveId(service, id);
      const message_id = await sendMessage(service, session_id, {
        text,
        message_id: options['messageId'] as string | undefined,
        delivery: options['steer'] === true ? 'steer' : 'queue',
      });
      return { session_id, message_id };
    },
    { worker: false },
  );
  if (options['json'] === true) context.screen.json(sent);
  else context.screen.print(sent.message_id);
  return 0;
};
