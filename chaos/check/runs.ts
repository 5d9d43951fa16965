/** Runs that did not end, and ends that nothing explains. */
import type { SessionEvent } from '../../src/domain/event.ts';
import { CRASH_BUDGET_RECOVERIES } from '../../src/domain/limits.ts';
import { all, type Evidence } from './evidence.ts';
import { violation, type Violation } from './verdict.ts';

/** As workflows/proxies.ts has it. */
const MODEL_CALL_ATTEMPTS = 5;

export function checkRuns(evidence: Evidence): Violation[] {
  const { told, events } = evidence;
  const bad = (what: string): Violation => violation(evidence, 'runs that did not end', what);
  const found: Violation[] = told.idle ? [] : [bad('the session is not idle')];
  const finished = all(events, 'run_finished');
  for (const { run_id } of all(events, 'run_started')) {
    const ends = finished.filter((end) => end.run_id === run_id).length;
    if (ends !== 1) found.push(bad(`${run_id} has ${ends} ends`));
  }
  for (const end of finished) {
    const { run_id, status, error } = end;
    if (status === 'interrupted' && !wasInterrupted(evidence, run_id))
      found.push(bad(`${run_id} ended as interrupted, and nobody had asked for it`));
    if (status === 'failed' && !isCrashLoop(evidence, end))
      found.push(bad(`${run_id} failed: ${JSON.stringify(error)}`));
  }
  return found;
}

function wasInterrupted({ told, events }: Evidence, run_id: string | undefined): boolean {
  const asked = all(events, 'interrupt_requested').some((event) => event.run_id === run_id);
  return asked && told.interrupts.length > 0;
}

/**
 * More losses in that run than it may have, and as many strikes while it ran, commands' own included. A model
 * call has its own attempts.
 */
function isCrashLoop({ events, hits, world, observed }: Evidence, end: SessionEvent): boolean {
  if (end.type !== 'run_finished' || end.error?.code !== 'crash_loop') return false;
  const ofRun = events.filter(({ run_id }) => run_id === end.run_id);
  // An event of a replayed task can bear the time of the task before; when the next one came is later in any case.
  const until = events.find(({ seq }) => seq === end.seq + 1)?.at;
  const struck =
    hits.filter(({ at }) => at >= (ofRun[0]?.at ?? '') && (until === undefined || at <= until)).length +
    world.killed.length;
  const last = ofRun.findLast(({ type }) => type === 'model_called' || type === 'assistant_message');
  if (last?.type === 'model_called' && observed.requests.some(({ key }) => key === last.operation_id))
    return struck >= MODEL_CALL_ATTEMPTS;
  const losses = ofRun.filter((event) => event.type === 'tool_recovery' && event.status === 'uncertain');
  return losses.length > CRASH_BUDGET_RECOVERIES && struck > CRASH_BUDGET_RECOVERIES;
}
