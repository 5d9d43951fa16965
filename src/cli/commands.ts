/** Every command. What a command imports loads when it runs. */
import { GOAL_COMMAND } from './specs/goal.ts';
import { DECISION_COMMANDS } from './specs/decision.ts';
import { INSTALLATION_COMMANDS } from './specs/installation.ts';
import { SESSION_COMMANDS } from './specs/session.ts';
import type { CommandSpec } from './specs/spec.ts';

export const COMMANDS: CommandSpec[] = [
  ...SESSION_COMMANDS,
  GOAL_COMMAND,
  ...DECISION_COMMANDS,
  ...INSTALLATION_COMMANDS,
];
