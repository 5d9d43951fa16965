/** From the words after `holdfast goal ID` to what is to be done, and what is said when it was. */
import { HoldfastError } from '../client/errors.ts';
import { checkGoalAction } from '../client/goal.ts';
import type { Goal } from '../domain/goal.ts';
import type { GoalAction } from '../domain/goalActions.ts';
import { count } from '../ui/text.ts';
import type { Options } from './context.ts';
import { promptOf } from './prompt.ts';

/** Undefined: show it. Rejects with a usage error. */
export async function readGoalAction(words: string[], options: Options): Promise<GoalAction | undefined> {
  const [name, ...rest] = words;
  const budget = options['budget'] as string | undefined;
  if (budget !== undefined && name !== 'set') {
    throw usage('--budget with `set` alone', `it with ${name ?? 'nothing'}`, 'goal ID budget N');
  }
  const action = await readAction(name, rest, budget);
  if (action !== undefined) checkGoalAction(action);
  return action;
}

async function readAction(
  name: string | undefined,
  rest: string[],
  budget: string | undefined,
): Promise<GoalAction | undefined> {
  switch (name) {
    case undefined:
      return undefined;
    case 'set':
      return {
        do: 'set',
        objective: await objectiveOf(rest),
        budget: budget === undefined ? null : tokensOf(budget),
      };
    case 'budget':
      return {
        do: 'budget',
        budget: tokensOf(only(rest, 'a number of tokens, or `none`', 'goal ID budget N')),
      };
    case 'pause':
    case 'resume':
    case 'clear':
      if (rest.length > 0) throw usage('nothing more', JSON.stringify(rest.join(' ')), `goal ID ${name}`);
      return { do: name };
    default:
      throw usage(
        'set, pause, resume, clear or budget',
        JSON.stringify(name.slice(0, 80)),
        'goal ID set TEXT',
      );
  }
}

async function objectiveOf(words: string[]): Promise<string> {
  if (words.join('').trim() === '') throw usage('a goal', 'nothing', 'goal ID set TEXT');
  return promptOf(words);
}

function only(words: string[], what: string, example: string): string {
  const [word] = words;
  if (word === undefined || words.length > 1) {
    throw usage(what, word === undefined ? 'nothing' : JSON.stringify(words.join(' ')), example);
  }
  return word;
}

/** `50000`, or `none`. */
function tokensOf(text: string): number | null {
  if (text === 'none') return null;
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number > 0) return number;
  throw usage(
    'a whole number of tokens, more than 0, or `none`',
    JSON.stringify(text),
    'goal ID budget 50000',
  );
}

function usage(expected: string, found: string, example: string): HoldfastError {
  return new HoldfastError(
    'usage',
    `Expected ${expected}, found ${found}.`,
    `As in \`holdfast ${example}\`.`,
  );
}

/** What was done, in a few words; `goal`: as it was before. */
export function wordsOfGoalAction(action: GoalAction, goal: Goal | null): string {
  switch (action.do) {
    case 'set':
      return 'goal set; the session works on it by itself';
    case 'pause':
      return 'goal paused; a run of it that is under way ends after its step';
    case 'resume':
      return 'goal resumed';
    case 'clear':
      return 'goal cleared';
    case 'budget': {
      const size = action.budget === null ? 'no budget' : `budget of ${count(action.budget)} tokens`;
      return goal?.status === 'budget_limited' ? `${size}; the goal goes on` : size;
    }
    default:
      return action satisfies never;
  }
}
