/** The session workflow: decide (domain/step.ts), perform, until it is archived or continues as new. */
import {
  CancellationScope,
  continueAsNew,
  createEventGroup,
  patched,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { SessionEvent } from '../domain/event.ts';
import { CARRIED_EVENTS_MAX_BYTES } from '../domain/limits.ts';
import type { SessionState } from '../domain/session.ts';
import { jsonBytesAtMost } from '../domain/jsonBytes.ts';
import { nextStep } from '../domain/step.ts';
import { tellStory } from '../domain/story.ts';
import type { ArchivedSegment } from '../activities/contract.ts';
import type { SessionInput } from './contract.ts';
import { installHandlers } from './handlers.ts';
import { SessionMachine } from './machine.ts';
import { perform } from './perform.ts';
import { onHost } from './onHost.ts';
import { rest } from './taskState.ts';
import { publishAttributes } from './visibility.ts';

/** What a closed session leaves behind; its events are in the archive. */
export interface SessionEnd {
  session_id: string;
  through_seq: number;
}

/** One session, for as long as it lives. */
export async function session(input: SessionInput): Promise<SessionEnd> {
  const machine = new SessionMachine(input);
  let scope: CancellationScope | undefined;
  let closed: SessionEnd | undefined;
  installHandlers(machine, { onInterrupt: () => scope?.cancel() });

  for (;;) {
    publishAttributes(machine.state);
    setCurrentDetails(tellStory(machine.state, machine.events));
    const decision = nextStep(machine.state, machine.pressure());
    const working = new CancellationScope();
    switch (decision.do) {
      case 'wait':
        await rest(machine, decision.until);
        break;
      case 'roll_over':
        await rollOver(machine);
        break;
      case 'close':
        closed = await close(machine);
        if (closed !== undefined) return closed;
        break;
      default:
        scope = working;
        await inRunGroup(machine, async () => working.run(async () => perform(machine, decision)));
        scope = undefined;
    }
  }
}

/** The Web UI shows what belongs to one run together. */
async function inRunGroup(machine: SessionMachine, work: () => Promise<void>): Promise<void> {
  const { run } = machine.state;
  if (run === null) return work();
  return createEventGroup(`run ${run.number}`, { id: `r${run.number}` }).withScope(work);
}

/** Archives what this Temporal run holds, and resolves with the state that stands there. */
async function archive(machine: SessionMachine): Promise<SessionState> {
  const { state } = machine;
  const { session_id, seq } = state;
  const segment = {
    session_id,
    segment: machine.segment,
    from_seq: (machine.base?.seq ?? 0) + 1,
    through_seq: seq,
  };
  const archived: ArchivedSegment | null | undefined = await onHost(machine, async ({ looking }) =>
    looking.archiveSegment(segment),
  );
  // A query that a worker answers first advances the workflow with the clock of the task before, so that the time of
  // an event is not the same in each replay. What was written is; sessions of before 0.2 were not told.
  return { ...state, updated_at: archived?.updated_at ?? state.updated_at };
}

/** Undefined when something happened while the last segment was archived. */
async function close(machine: SessionMachine): Promise<SessionEnd | undefined> {
  const { session_id, seq } = await archive(machine);
  return machine.state.seq === seq ? { session_id, through_seq: seq } : undefined;
}

/** Until this version all that came meanwhile went along, and too much of it stopped the session for good. */
const ARCHIVE_AGAIN = 'archive_again';

/**
 * Events that came while the segment was archived go along; the state is carried as it was before them. Where the
 * archive could not be written for long they may be more than Temporal takes, so they are archived as well.
 */
async function rollOver(machine: SessionMachine): Promise<void> {
  for (;;) {
    const known = machine.events.length;
    const state = await archive(machine);
    const rest = machine.events.slice(known);
    if (jsonBytesAtMost(rest) <= CARRIED_EVENTS_MAX_BYTES || !patched(ARCHIVE_AGAIN))
      return continueWith(machine, state, rest);
  }
}

async function continueWith(
  machine: SessionMachine,
  state: SessionState,
  events: SessionEvent[],
): Promise<void> {
  await continueAsNew<typeof session>({
    kind: 'continued',
    state,
    events,
    segment: machine.segment + 1,
    roll_over: machine.roll_over,
    host_patience_ms: machine.host_patience_ms,
    ...(machine.goal_second_ms === undefined ? {} : { goal_second_ms: machine.goal_second_ms }),
  });
}
