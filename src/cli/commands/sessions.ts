import { listSessions, type ListOptions } from '../../client/list.ts';
import { sessionLines } from '../../ui/sessionLines.ts';
import { withService, type Handler, type Options } from '../context.ts';

/** Lines on a terminal unless more are asked for. */
const SHOWN_ON_TERMINAL = 50;

/** `holdfast sessions`: from visibility only. */
export const sessions: Handler = async (context, _args, options) => {
  const { screen } = context;
  const wanted = wantedOf(options);
  // A person reads one page; a script that asks for JSON gets all.
  const paged = screen.terminal.live && options['json'] !== true && wanted.status !== 'all';
  const bound = wanted.limit ?? (paged ? SHOWN_ON_TERMINAL : undefined);
  const limit = bound === undefined ? undefined : bound + 1; // one more tells that there are more
  const found = await withService(
    context,
    async (service) => listSessions(service, { ...wanted, ...(limit !== undefined && { limit }) }),
    { worker: false },
  );
  if (options['json'] === true) {
    screen.json(found.slice(0, bound));
    return 0;
  }
  if (found.length === 0) screen.note('No such sessions. `holdfast run PROMPT` makes one.');
  const shown = found.slice(0, bound);
  for (const line of sessionLines(shown, screen.terminal.columns, screen.styles)) screen.print(line);
  if (shown.length < found.length) screen.note(`... and more: --limit N, or --all`);
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
