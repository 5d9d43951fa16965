/** `/goal` in a conversation. */
import { facts } from '../../client/facts.ts';
import { actOnSessionGoal } from '../../client/goal.ts';
import type { Service } from '../../client/service.ts';
import { goalText } from '../../ui/goalLines.ts';
import type { Styles } from '../../ui/style.ts';
import { readGoalAction, wordsOfGoalAction } from '../goalAction.ts';

/** Shows the goal, or changes it as the words say, which are those after `holdfast goal ID`; what there is to print. */
export async function goalLines(
  service: Service,
  session_id: string,
  { words, styles, by }: { words: string[]; styles: Styles; by: string },
): Promise<string[]> {
  const action = await readGoalAction(words, {});
  if (action === undefined) return goalText(await facts(service, session_id), styles);
  const before = await actOnSessionGoal(service, session_id, action, by);
  return [styles.dim(wordsOfGoalAction(action, before))];
}
