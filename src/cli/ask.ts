/** A question to the person at the terminal. */
import { createInterface } from 'node:readline/promises';
import type { Screen } from '../ui/screen.ts';

/** Yes or no; undefined when the question was left with Ctrl+C or Ctrl+D. */
export async function askYesNo(screen: Screen, question: string): Promise<boolean | undefined> {
  for (;;) {
    const answer = await askLine(screen, question);
    if (answer === undefined) return undefined;
    if (/^y(es)?$/i.test(answer.trim())) return true;
    if (/^no?$/i.test(answer.trim())) return false;
  }
}

/** One line of text; undefined when the question was left with Ctrl+C or Ctrl+D. */
export async function askLine(screen: Screen, question: string): Promise<string | undefined> {
  screen.endLine();
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const left = new AbortController();
  reader.once('SIGINT', () => {
    left.abort();
    process.emit('SIGINT');
  });
  reader.once('close', () => left.abort());
  try {
    return await reader.question(question, { signal: left.signal });
  } catch {
    return undefined;
  } finally {
    reader.close();
  }
}
