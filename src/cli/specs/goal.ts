/** The command about a session's goal. */
import { Option } from 'commander';
import { jsonOption } from '../options.ts';
import { ID } from './spec.ts';
import type { CommandSpec } from './spec.ts';

export const GOAL_COMMAND: CommandSpec = {
  name: 'goal',
  summary: 'what a session works on by itself: show, set, pause, resume, clear, budget',
  args: [ID, ['[action]', 'set, pause, resume, clear or budget'], ['[words...]', 'the goal, or the budget']],
  options: () => [new Option('--budget <n>', 'with set: the tokens that it may use'), jsonOption()],
  help: [
    'holdfast goal ID                        shows it',
    'holdfast goal ID set TEXT [--budget N]  a new goal, instead of the one before; `-` reads it from stdin',
    'holdfast goal ID pause | resume | clear',
    'holdfast goal ID budget N | none        a goal that had reached its budget goes on',
  ].join('\n'),
  load: async () => (await import('../commands/goal.ts')).goal,
};
