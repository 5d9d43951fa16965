import { facts } from '../../client/facts.ts';
import { heldUp } from '../../client/heldUp.ts';
import { resolveId } from '../../client/resolve.ts';
import { factsLines } from '../../ui/factsLines.ts';
import { withService, type Handler } from '../context.ts';

/** `holdfast show ID`: what is known of a session; calls no model. */
export const show: Handler = async (context, [id = ''], options) => {
  const known = await withService(
    context,
    async (service) => {
      const session_id = await resolveId(service, id);
      return { ...(await facts(service, session_id)), held_up: await heldUp(service, session_id) };
    },
    { worker: false },
  );
  const { screen } = context;
  if (options['json'] === true) screen.json(known);
  else for (const line of factsLines(known, screen.terminal.columns, screen.styles)) screen.print(line);
  return 0;
};
