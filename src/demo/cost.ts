/** What the crash of the demo cost, counted from the log, the model's requests and the test's own log. */
import type { SessionEvent } from '../domain/event.ts';
import { TEST_COMMAND } from './demoScript.ts';

export interface Counted {
  events: readonly SessionEvent[];
  /** That the model's endpoint has seen. */
  requests: number;
  /** That the test itself has counted. */
  testRuns: number;
}

/** Three lines, each of which says what the figures say, also when that is bad. */
export function costLines({ events, requests, testRuns }: Counted): string[] {
  const replies = events.filter((event) => event.type === 'assistant_message').length;
  const asked = events.filter((event) => event.type === 'tool_call' && event.target === TEST_COMMAND).length;
  const recovered = events.filter((event) => event.type === 'tool_result' && event.recovered === true).length;
  const paid =
    requests === replies
      ? 'none was made twice'
      : `${requests - replies} more than replies, under the same keys`;
  const ran =
    testRuns === asked
      ? 'as often as the model asked: the kill repeated nothing'
      : `although the model asked ${asked} times`;
  return [
    `  model calls      ${requests} requests for ${replies} replies: ${paid}`,
    `  the test         was run ${testRuns} times, ${ran}`,
    `  results          ${recovered} came from a command that outlived its worker`,
  ];
}
