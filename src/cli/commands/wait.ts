import { EXIT, HoldfastError } from '../../client/errors.ts';
import { facts } from '../../client/facts.ts';
import type { RunOutcome } from '../../client/outcome.ts';
import { resolveId } from '../../client/resolve.ts';
import { waitIdle } from '../../client/wait.ts';
import type { Service } from '../../client/service.ts';
import { goalSummary } from '../../ui/goalLines.ts';
import { oneLine } from '../../ui/text.ts';
import { withService, type Context, type Handler } from '../context.ts';

/** `holdfast wait ID`: until the session is idle, or waits for a person. */
export const wait: Handler = async (context, [id = ''], options) =>
  withService(context, async (service) => {
    const session_id = await resolveId(service, id);
    const { screen } = context;
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort());
    const outcome = await waitIdle(service, session_id, {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.type === 'host_unreachable') screen.note(`~ no worker of host ${event.host} answers`);
      },
      onConnection: ({ part, reachable }) =>
        screen.note(screen.styles.dim(`~ ${part} ${reachable ? 'is back' : 'lost, waiting for it'}`)),
    });
    if (outcome === undefined) return stop.signal.aborted ? EXIT.detached : EXIT.done;
    if (options['json'] === true) screen.json({ session_id, ...outcome });
    else await say(context, service, session_id, outcome);
    return outcome.exit_code;
  });

async function say(
  { screen }: Context,
  service: Service,
  session_id: string,
  outcome: RunOutcome,
): Promise<void> {
  if (outcome.status === 'waiting') {
    const { pending_approvals } = await facts(service, session_id);
    const calls = pending_approvals.map(({ tool, target }) => `${tool} ${oneLine(target)}`).join('; ');
    throw new HoldfastError(
      'approval.pending',
      `Expected session ${session_id} to become idle, found it waiting for approval of: ${calls}`,
      `\`holdfast approve ${session_id}\` or \`holdfast deny ${session_id} --reason TEXT\`.`,
      EXIT.waitingForPerson,
    );
  }
  const { goal } = await facts(service, session_id);
  if (goal != null) screen.note(`the goal: ${goalSummary(goal, Date.now())}`);
  if (goal?.status === 'blocked') {
    screen.note(`  ${oneLine(goal.note)}`);
    screen.note(`  Help it with a message, then \`holdfast goal ${session_id} resume\`.`);
  }
  const error = outcome.error === null ? '' : `: ${oneLine(outcome.error.message)}`;
  screen.note(
    outcome.status === 'none' ? 'idle; it has had no run' : `the last run: ${outcome.status}${error}`,
  );
  if (outcome.error?.remedy) screen.note(`  ${oneLine(outcome.error.remedy)}`);
}
