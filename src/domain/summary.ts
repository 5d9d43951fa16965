/** The words around a summary: how the model is asked for one, and how it stands in the context afterwards. */
import type { SessionState } from './session.ts';

/** The last message of a request for a summary; the conversation stands before it. */
export const SUMMARY_REQUEST = `<summarise>
The conversation has grown too long and is about to be replaced by a summary that you write now. You will go on working with that summary and the last steps alone, so write down everything that is needed to go on as if nothing had happened, and nothing else. Do not call tools, do not go on with the task, do not address the user.

Write in this order, leaving out what is empty:
1. Goal: what the user wants, with every requirement and constraint that they stated.
2. Decisions: what was decided, and why; what was tried and did not work.
3. Files: which files were read, changed or created, what matters in each (names of functions, lines, formats), exactly as they are called.
4. State: what is done and how it was checked, what the last commands and tests printed, background jobs with their ids.
5. Next: what you were about to do, step by step.
6. Uncertain: calls whose result is unknown, with what is known of each.

Keep paths, names, commands, error texts and numbers word for word. What you do not know is unknown: do not guess.
</summarise>`;

/** The message that stands for everything that the summary covers; undefined when there is none. */
export function summaryText(state: SessionState): string | undefined {
  const { summary } = state;
  if (summary === null) return undefined;
  return [
    '<summary>',
    'The conversation before this point was summarised, since it had grown too long for one request:',
    '',
    summary.text,
    '</summary>',
    ...wordForWord(summary.user_messages),
    ...uncertain(state, summary.seq),
  ].join('\n');
}

function wordForWord(messages: readonly string[]): string[] {
  if (messages.length === 0) return [];
  return [
    "<user_messages>The user's last messages before this point, word for word, oldest first:",
    ...messages.map((text) => `<message>${text}</message>`),
    '</user_messages>',
  ];
}

/** By the session's own record, whatever the summary says of them. */
function uncertain(state: SessionState, through_seq: number): string[] {
  const lines = state.uncertain
    .filter(({ seq }) => seq <= through_seq)
    .map(
      ({ call_id, tool, target, status, evidence }) =>
        `- call ${call_id} (${tool}: ${target}): begun, its end is ${status}. ${evidence}`,
    );
  if (lines.length === 0) return [];
  return [
    '<uncertain>Calls before this point whose end nobody knows. Look at the real state before you rely on any of them or repeat it:',
    ...lines,
    '</uncertain>',
  ];
}
