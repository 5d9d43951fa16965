/** Model calls paid twice: asked again although the reply was on the disk, or in the log. */
import { all, type Evidence } from './evidence.ts';
import { violation, type Violation } from './verdict.ts';

export function checkPayments(evidence: Evidence): Violation[] {
  const { events, observed } = evidence;
  const recorded = new Map(all(events, 'assistant_message').map((event) => [event.operation_id, event.at]));
  const late = observed.requests
    .filter(({ key, at }) => at > (recorded.get(key) ?? '9'))
    .map(({ key, at }) => `${key} was asked again at ${at} although its reply was in the log`);
  return [...observed.paidTwice, ...late].map((what) => violation(evidence, 'model calls paid twice', what));
}
