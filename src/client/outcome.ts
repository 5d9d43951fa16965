/** What came of a run, and the exit code that says so. */
import type { SessionEvent } from '../domain/event.ts';
import type { KnownFacts } from './facts.ts';
import type { RunError } from '../domain/failure.ts';
import type { RunSummary } from '../domain/session.ts';
import { EXIT, type ExitCode } from './errors.ts';

/** `waiting`: the run goes on when a person has decided. `none`: there was no run. */
export interface RunOutcome {
  status: 'success' | 'failed' | 'interrupted' | 'waiting' | 'none';
  exit_code: ExitCode;
  run_id: string | null;
  error: RunError | null;
}

type RunFinished = Extract<SessionEvent, { type: 'run_finished' }>;

/** Of a run that ended. `by_person`: somebody asked for the interrupt; else the run waits for a person. */
export function outcomeOfRun(event: RunFinished, by_person: boolean): RunOutcome {
  const waits = event.status === 'interrupted' && !by_person;
  return {
    status: event.status,
    exit_code: waits ? EXIT.waitingForPerson : exitCodeOf(event.status, event.error),
    run_id: event.run_id ?? null,
    error: event.error,
  };
}

/** Of a session as it is now, for `wait`; undefined while there is something to wait for. */
export function outcomeOfSession(facts: KnownFacts): RunOutcome | undefined {
  if (facts.partial) return undefined;
  const last = facts.runs.at(-1);
  const run_id = last?.run_id ?? null;
  if (facts.run_state === 'waiting_approval') {
    return { status: 'waiting', exit_code: EXIT.waitingForPerson, run_id, error: null };
  }
  return isBusy(facts) ? undefined : outcomeOfLastRun(facts, last);
}

/** A run goes on, or one begins by itself: of an active goal now or after a rest. */
function isBusy({ run_state, queued, runs, goal, context }: KnownFacts): boolean {
  const running = run_state === 'running' || runs.at(-1)?.status === 'running';
  return running || queued > 0 || context.compacting || goal?.status === 'active';
}

function outcomeOfLastRun(facts: KnownFacts, last: RunSummary | undefined): RunOutcome {
  if (last === undefined || last.status === 'running') {
    return { status: 'none', exit_code: EXIT.done, run_id: null, error: null };
  }
  const { status, run_id, error } = last;
  const lost =
    status === 'interrupted' && facts.settings.on_interrupt === 'wait' && facts.uncertain.length > 0;
  const waits = lost || facts.goal?.status === 'blocked';
  return { status, exit_code: waits ? EXIT.waitingForPerson : exitCodeOf(status, error), run_id, error };
}

function exitCodeOf(status: RunFinished['status'], error: RunError | null): ExitCode {
  if (status === 'success') return EXIT.done;
  if (status === 'interrupted') return EXIT.interrupted;
  return error?.code === 'workspace.not_found' ? EXIT.workspaceNotFound : EXIT.runFailed;
}
