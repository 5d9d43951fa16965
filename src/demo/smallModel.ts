/** A scripted model with a small window: what is larger is refused as OpenAI does it, and summaries are written. */
import type { Script } from './scriptedModel.ts';
import type { SeenRequest } from './scriptedRequest.ts';
import { fail, say, type ScriptedTurn } from './scriptedTurns.ts';

/**
 * Wraps a script: `window_chars` of the conversation's JSON are taken, or so many as it says for a request.
 * `summary` answers what asks for one.
 */
export function smallModel(
  window_chars: number | ((request: SeenRequest) => number),
  script: Script,
  summary: (request: SeenRequest, index: number) => ScriptedTurn | Promise<ScriptedTurn> = () =>
    say('SUMMARY of it'),
): Script {
  return async (request, index) => {
    const problems = problemsOf(request);
    if (problems.length > 0) return fail(400, { error: { message: problems.join('; '), type: 'orphan' } });
    const window = typeof window_chars === 'number' ? window_chars : window_chars(request);
    if (sizeOf(request) > window) {
      const message = `This model's maximum context length is ${window} characters.`;
      return fail(400, {
        error: { message, code: 'context_length_exceeded', type: 'invalid_request_error' },
      });
    }
    return asksForSummary(request) ? summary(request, index) : script(request, index);
  };
}

export function asksForSummary({ messages }: SeenRequest): boolean {
  return messages.at(-1)?.text.startsWith('<summarise>') === true;
}

/** Of the conversation and its system message. */
export function sizeOf({ body }: SeenRequest): number {
  return JSON.stringify(body['messages'] ?? body['input']).length;
}

/** Calls without their one result right after them, and results without a call. */
export function problemsOf({ messages }: SeenRequest): string[] {
  const problems: string[] = [];
  let open: string[] = [];
  for (const [index, { role, call_id, calls }] of messages.entries()) {
    const expected = open.shift();
    if ((role === 'tool' ? call_id : undefined) !== expected)
      problems.push(`message ${index} (${role}) instead of the result of ${expected ?? 'nothing'}`);
    if (calls.length > 0) open = calls.map((call) => call.call_id);
  }
  return open.length === 0 ? problems : [...problems, `no result of ${open.join()}`];
}
