import { once } from 'node:events';
import type { SessionEvent } from '../../domain/event.ts';
import { EXIT } from '../../client/errors.ts';
import { readEvents } from '../../client/events.ts';
import { follow } from '../../client/follow.ts';
import { resolveId } from '../../client/resolve.ts';
import { withService, type Handler } from '../context.ts';
import { eventText } from '../../ui/eventText.ts';

/** `holdfast events ID`: JSONL, or a line of text for each on a terminal. */
export const events: Handler = async (context, [id = ''], options) => {
  const { screen } = context;
  const from = Math.max(1, (options['from'] as number | undefined) ?? 1);
  const asJson = options['json'] === true || !screen.terminal.live;
  const tell = async (event: SessionEvent): Promise<void> => {
    if (asJson) screen.json(event);
    else screen.print(eventText(event, screen.terminal.columns, screen.styles));
    // A reader that is slower than the archive must not fill the memory.
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  };
  await withService(
    context,
    async (service) => {
      const session_id = await resolveId(service, id);
      if (options['follow'] !== true) {
        for await (const event of readEvents(service, session_id, from)) await tell(event);
        return;
      }
      const stop = new AbortController();
      process.once('SIGINT', () => stop.abort());
      await follow(service, session_id, {
        from,
        onEvent: tell,
        onConnection: ({ part, reachable }) =>
          screen.note(screen.styles.dim(`~ ${part} ${reachable ? 'is back' : 'lost, waiting for it'}`)),
        signal: stop.signal,
      });
    },
    { worker: false },
  );
  return EXIT.done;
};
