import { noWorker } from '../../client/errors.ts';
import { facts } from '../../client/facts.ts';
import { resolveId } from '../../client/resolve.ts';
import { actOnSessionGoal } from '../../client/goal.ts';
import { goalText } from '../../ui/goalLines.ts';
import { withService, type Context, type Handler, type Options } from '../context.ts';
import { readGoalAction, wordsOfGoalAction } from '../goalAction.ts';
import { settingsFor } from '../settings.ts';

/** `holdfast goal ID …`: shows the goal, or changes it; accepted durably, also while no worker runs. */
export const goal: Handler = async (context, [id = '', ...words], options) => {
  const action = await readGoalAction(words, options);
  if (action === undefined) return show(context, id, options);
  const by = (await settingsFor(context, options)).user.value;
  const { session_id, before } = await withService(
    context,
    async (service) => {
      const session_id = await resolveId(service, id);
      return { session_id, before: await actOnSessionGoal(service, session_id, action, by) };
    },
    { worker: false },
  );
  if (options['json'] === true) context.screen.json({ session_id, action: action.do });
  else context.screen.note(`${session_id}: ${wordsOfGoalAction(action, before)}`);
  return 0;
};

async function show(context: Context, id: string, options: Options): Promise<number> {
  const known = await withService(context, async (service) => facts(service, await resolveId(service, id)), {
    worker: false,
  });
  const { session_id, partial } = known;
  if (partial && known.goal === null) throw noWorker(session_id);
  const { screen } = context;
  if (options['json'] === true) screen.json({ session_id, goal: known.goal });
  else for (const line of goalText(known, screen.styles)) screen.print(line);
  return 0;
}
