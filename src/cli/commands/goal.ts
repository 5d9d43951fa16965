import { noWorker } from '../../client/errors.ts';
import { facts } from '../../client/facts.ts';
import { resolveId } from '../../client/resolve.ts';
import { actOnSessionGoal } from '../../client/goal.ts';
import type { Goal } from '../../domain/goal.ts';
import type { GoalAction } from '../../domain/goalActions.ts';
import { goalText } from '../../ui/goalLines.ts';
import { count } from '../../ui/text.ts';
import { withService, type Context, type Handler, type Options } from '../context.ts';
import { readGoalAction } from '../goalAction.ts';
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
  else context.screen.note(`${session_id}: ${wordsOf(action, before)}`);
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

/** `goal`: as it was before. */
function wordsOf(action: GoalAction, goal: Goal | null): string {
  switch (action.do) {
    case 'set':
      return 'goal set; the session works on it by itself';
    case 'pause':
      return 'goal paused; a run of it that is under way ends after its step';
    case 'resume':
      return 'goal resumed';
    case 'clear':
      return 'goal cleared';
    case 'budget': {
      const size = action.budget === null ? 'no budget' : `budget of ${count(action.budget)} tokens`;
      return goal?.status === 'budget_limited' ? `${size}; the goal goes on` : size;
    }
    default:
      return action satisfies never;
  }
}
