/** Log integrity: no gap, one result a call, and every conversation that the endpoint saw was valid. */
import type { SessionEvent } from '../../src/domain/event.ts';
import { all, type Evidence } from './evidence.ts';
import { violation, type Violation } from './verdict.ts';

export function checkLog(evidence: Evidence): Violation[] {
  const { events, observed } = evidence;
  const whats = [
    ...orderProblems(events),
    ...resultProblems(events),
    ...unasked(evidence),
    ...observed.invalid,
    ...changedStories(evidence),
  ];
  return whats.map((what) => violation(evidence, 'log broken', what));
}

function orderProblems(events: SessionEvent[]): string[] {
  return events.flatMap((event, index) => {
    const before = events[index - 1];
    const problems: string[] = [];
    if (event.seq !== index + 1) problems.push(`expected seq ${index + 1}, found ${event.seq}`);
    if (before !== undefined && event.at < before.at)
      problems.push(`event ${event.seq} is older than the one before`);
    return problems;
  });
}

function resultProblems(events: SessionEvent[]): string[] {
  const calls = all(events, 'tool_call').map(({ operation_id }) => operation_id);
  const results = all(events, 'tool_result').map(({ operation_id }) => operation_id);
  return [
    ...repeated(calls).map((id) => `call ${id} is in the log twice`),
    ...repeated(results).map((id) => `call ${id} has two results`),
    ...results.filter((id) => !calls.includes(id)).map((id) => `result ${id} has no call`),
  ];
}

/** When the last run ended well, the model had asked for all that it meant to. */
function unasked({ events, calls }: Evidence): string[] {
  if (all(events, 'run_finished').at(-1)?.status !== 'success') return [];
  const asked = new Set(all(events, 'tool_call').map(({ call_id }) => call_id));
  return calls
    .filter(({ call_id }) => !asked.has(call_id))
    .map(({ call_id }) => `${call_id} was never asked for`);
}

/** What the model was told of a call stays what it was told, and is what the log says. */
function changedStories({ observed, events }: Evidence): string[] {
  const results = new Map(all(events, 'tool_result').map((event) => [event.call_id, event.output]));
  return [...observed.claims].flatMap(([call_id, texts]) => {
    const result = results.get(call_id);
    if (texts.length > 1)
      return [`the model was told ${texts.length} stories of ${call_id}: ${JSON.stringify(texts)}`];
    return result === undefined || texts[0] === result
      ? []
      : [`${call_id}: the log has ${JSON.stringify(result)}, the model was told ${JSON.stringify(texts[0])}`];
  });
}

function repeated(list: string[]): string[] {
  return [...new Set(list.filter((item, index) => list.indexOf(item) !== index))];
}
