/** Effects doubled: whatever was said of a call, its effect is in the world once at most. */
import type { PlannedCall } from '../load/calls.ts';
import { times, type Evidence } from './evidence.ts';
import { callViolation, type Violation } from './verdict.ts';

export function checkEffects(evidence: Evidence): Violation[] {
  return evidence.calls.flatMap((call) =>
    counts(evidence, call)
      .filter(({ count }) => count > 1)
      .map(({ what, count }) => callViolation(evidence, call, 'effects doubled', `${what} ${count} times`)),
  );
}

function counts({ world }: Evidence, { token, files }: PlannedCall): { what: string; count: number }[] {
  return [
    { what: 'begun', count: times(world.started, token) },
    { what: 'done', count: times(world.done, token) },
    { what: 'committed', count: times(world.committed, token) },
    {
      what: 'sent to the service',
      count: world.arrivals.filter((arrival) => arrival.token === token).length,
    },
    ...files.map((path) => ({ what: `in ${path}`, count: times(world.files.get(path) ?? [], token) })),
  ];
}
