import { listSessions, type ListOptions } from '../../client/list.ts';
import { sessionLines } from '../../ui/sessionLines.ts';
import { withService, type Handler, type Options } from '../context.ts';

/** Lines on a terminal unless more are asked for. */
const SHOWN_ON_TERMINAL = 50;

/** `holdfast sessions`: from visibility only. */
export const sessions: Handler = async (context, _args, options) => {
  const { screen } = context;
  const wanted = wantedOf(options);
  const found = await withService(context, async (service) => listSessions(service, wanted), {
    worker: false,
  });
  if (options['json'] === true) {
    screen.json(found);
    return 0;
  }
  if (found.length === 0) screen.note('No such sessions. `holdfast run PROMPT` makes one.');
  const bounded = screen.terminal.live && wanted.status !== 'all' && wanted.limit === undefined;
  const shown = bounded ? found.slice(0, SHOWN_ON_TERMINAL) : found;
  for (const line of sessionLines(shown, screen.terminal.columns, screen.styles)) screen.print(line);
  if (shown.length < found.length)
    screen.note(`${found.length - shown.length} more; --limit N or --all shows them.`);
  return 0;
};

function wantedOf(options: Options): ListOptions {
  const { all, status, limit } = options;
  return {
    ...(all === true && { status: 'all' }),
    ...(status !== undefined && { status: status as NonNullable<ListOptions['status']> }),
    ...(limit !== undefined && { limit: limit as number }),
  };
}
