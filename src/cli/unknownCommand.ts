/** A misspelt command is not a prompt: it must not begin a session. */
import { HoldfastError } from '../client/errors.ts';
import { COMMANDS } from './commands.ts';

const MAX_DISTANCE = 2;

/** Throws when the first argument is one word that is no command. A prompt of one word goes after `run`. */
export function refuseUnknownCommand([word]: string[]): void {
  if (word === undefined || word === 'help' || !/^[^\s-]\S*$/.test(word)) return;
  if (COMMANDS.some(({ name }) => name === word)) return;
  const near = COMMANDS.filter(({ hidden, name }) => !hidden && distance(name, word) <= MAX_DISTANCE);
  const hint = near.length === 0 ? '' : `Did you mean ${near.map(({ name }) => name).join(' or ')}? `;
  throw new HoldfastError(
    'usage',
    `Expected a command or a prompt of several words, found ${JSON.stringify(word)}.`,
    `${hint}\`holdfast --help\` lists the commands; \`holdfast run ${word}\` sends it as a prompt.`,
  );
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const same = letter === b[j] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + same, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
