/** Compaction: a summary in the place of the older events, made by an activity and recorded like any model call. */
import { NOTHING_TO_SUMMARISE } from '../domain/compaction.ts';
import type { RunError } from '../domain/failure.ts';
import type { Decision } from '../domain/step.ts';
import { isInterrupt, runErrorOf } from './failures.ts';
import type { SessionMachine } from './machine.ts';
import { modelActivities } from './proxies.ts';

/** Emits `summary_created`, or `compaction_failed` with the reason. */
export async function compact(
  machine: SessionMachine,
  { operation_id, through_seq }: Extract<Decision, { do: 'compact' }>,
): Promise<void> {
  const { session_id, settings } = machine.state;
  try {
    const made = await modelActivities.summarize.executeWithOptions(
      { summary: `summary: ${settings.model}` },
      [{ session_id, operation_id, through_seq }],
    );
    if (made === null) machine.emit({ type: 'compaction_failed', operation_id, error: NOTHING });
    else machine.emit({ type: 'summary_created', operation_id, ...made });
  } catch (error) {
    const interrupted = isInterrupt(error) || machine.state.run?.interrupted_by != null;
    machine.emit({
      type: 'compaction_failed',
      operation_id,
      error: interrupted ? INTERRUPTED : runErrorOf(error),
    });
  }
}

const NOTHING: RunError = {
  code: NOTHING_TO_SUMMARISE,
  message: 'There is nothing in the conversation that a summary could stand for.',
  remedy: 'Go on; the next summary is made when there is more.',
};

const INTERRUPTED: RunError = {
  code: 'interrupted',
  message: 'The summary was interrupted.',
  remedy: 'Ask again with `holdfast compact ID`.',
};
