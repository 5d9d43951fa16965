/** What the demo's model says: it looks, runs the test, repairs, and runs the test again. */
import type { Script } from './scriptedModel.ts';
import { scriptByStep } from './scriptedSteps.ts';
import { callTool, callTools, say } from './scriptedTurns.ts';

export const DEMO_PROMPT = 'The login test fails. Find out why and repair it.';

/** The second run of this is the one that loses its worker. */
export const TEST_COMMAND = 'npm test';

const PATCH = `*** Begin Patch
*** Update File: src/login.js
@@ export function login(email, password) {
-  const user = users.find((candidate) => candidate.email === email);
+  const wanted = email.toLowerCase();
+  const user = users.find((candidate) => candidate.email.toLowerCase() === wanted);
   if (user === undefined || user.password !== password) return null;
*** End Patch
`;

/** Streamed in small pieces, so that it is seen to be written. */
const TYPING = { chunk_chars: 12, chunk_delay_ms: 15 };

/** Looks at the conversation alone: whoever asks again after a crash gets the same answer. */
export function demoScript(): Script {
  return scriptByStep([
    callTools(
      [
        { tool: 'read_file', args: { path: 'src/login.js' } },
        { tool: 'read_file', args: { path: 'test/login.test.js' } },
      ],
      { text: 'I will read the login and its test first.', ...TYPING },
    ),
    callTool('bash', { command: TEST_COMMAND }, { text: 'Now I run the test as it is.', ...TYPING }),
    callTool(
      'apply_patch',
      { patch: PATCH },
      { text: 'Emails are compared with their case. I repair that.', ...TYPING },
    ),
    callTool('bash', { command: TEST_COMMAND }, { text: 'I run the test again.', ...TYPING }),
    ({ resultsOfTurn }) =>
      say(
        resultsOfTurn.at(-1)?.includes('exit code 0') === true
          ? 'Repaired: `login` compares emails without regard to case now (src/login.js). `npm test` passes: 3 of 3.'
          : 'The test still fails; its output is above.',
        TYPING,
      ),
  ]);
}
