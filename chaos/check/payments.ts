/** Model calls paid twice: asked again although the reply was on the disk, or had been gone on from. */
import type { Evidence } from './evidence.ts';
import { violation, type Violation } from './verdict.ts';

export function checkPayments(evidence: Evidence): Violation[] {
  const { observed } = evidence;
  // By the endpoint's own order: the time of an event is the workflow's, which may be behind after a crash.
  const late = observed.requests.filter(({ key }, index) => {
    const first = observed.requests.findIndex((request) => request.key === key);
    return observed.requests.slice(first, index).some((request) => request.key !== key);
  });
  const asked = late.map(({ key, at }) => `${key} was asked again at ${at}, after the call that followed it`);
  return [...observed.paidTwice, ...asked].map((what) => violation(evidence, 'model calls paid twice', what));
}
