/** A list to choose a session from. */
import { HoldfastError } from '../client/errors.ts';
import type { ListedSession } from '../client/list.ts';
import { sessionLines } from '../ui/sessionLines.ts';
import { askLine } from './ask.ts';
import type { Screen } from '../ui/screen.ts';
import type { Context } from './context.ts';

const OFFERED = 20;

/** The chosen id; undefined when nothing was chosen. Rejects when there is no terminal to ask at. */
export async function pickSession(
  { screen }: Context,
  sessions: ListedSession[],
): Promise<string | undefined> {
  if (!screen.terminal.interactive) {
    throw new HoldfastError(
      'usage',
      'Expected the id of a session, found none and no terminal to ask at.',
      'Give an id (`holdfast sessions` lists them), or --last.',
    );
  }
  const offered = sessions.slice(0, OFFERED);
  printOffer(screen, offered);
  for (;;) {
    const answer = await askLine(screen, 'which? ');
    if (answer === undefined || answer.trim() === '') return undefined;
    const wanted = answer.trim();
    const chosen = offered[Number(wanted) - 1] ?? offered.find(({ session_id }) => session_id === wanted);
    if (chosen !== undefined) return chosen.session_id;
  }
}

function printOffer(screen: Screen, offered: ListedSession[]): void {
  for (const [index, session] of offered.entries()) {
    const [first = '', ...rest] = sessionLines([session], screen.terminal.columns - 4, screen.styles);
    screen.print(`${String(index + 1).padStart(2)}  ${first}`);
    for (const line of rest) screen.print(`    ${line}`);
  }
}
