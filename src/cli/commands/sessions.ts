import { listSessions, type ListOptions } from '../../client/list.ts';
import { sessionLines } from '../../ui/sessionLines.ts';
import { withService, type Handler } from '../context.ts';

/** Lines on a terminal unless more are asked for. */
const SHOWN_ON_TERMINAL = 50;

/** `holdfast sessions`: from visibility only. */
export const sessions: Handler = async (context, _args, options) => {
  const { screen } = context;
  const all = options['all'] === true;
  const status = (options['status'] ?? (all ? 'all' : undefined)) as ListOptions['status'];
  const limit = options['limit'] as number | undefined;
  const found = await withService(
    context,
    async (service) =>
      listSessions(service, { ...(status && { status }), ...(limit !== undefined && { limit }) }),
    { worker: false },
  );
  if (options['json'] === true) {
    screen.json(found);
    return 0;
  }
  if (found.length === 0)
    screen.note(status === undefined ? 'No sessions. `holdfast run PROMPT` makes one.' : 'No such sessions.');
  const shown =
    screen.terminal.live && !all && limit === undefined ? found.slice(0, SHOWN_ON_TERMINAL) : found;
  for (const line of sessionLines(shown, screen.terminal.columns, screen.styles)) screen.print(line);
  if (shown.length < found.length)
    screen.note(`${found.length - shown.length} more; --limit N or --all shows them.`);
  return 0;
};
