/** Commands by which a person decides about a session. */
import { Option } from 'commander';
import { jsonOption } from '../options.ts';
import { ID, json } from './spec.ts';
import type { CommandSpec } from './spec.ts';

export const DECISION_COMMANDS: CommandSpec[] = [
  {
    name: 'interrupt',
    summary: "end a session's run",
    args: [ID],
    options: json,
    load: async () => (await import('../commands/signals.ts')).interruptCommand,
  },
  {
    name: 'approve',
    summary: 'let pending calls run',
    args: [ID, ['[call_id]', 'only this call']],
    options: json,
    load: async () => (await import('../commands/decide.ts')).approve,
  },
  {
    name: 'deny',
    summary: 'refuse pending calls',
    args: [ID, ['[call_id]', 'only this call']],
    options: () => [new Option('--reason <text>', 'told to the model').default(''), jsonOption()],
    load: async () => (await import('../commands/decide.ts')).deny,
  },
  {
    name: 'resolve',
    summary: 'say what became of a call whose end nobody knows',
    args: [ID, ['<call_id>', 'the uncertain call']],
    options: () => [
      new Option('--as <what>', 'what is true').choices(['done', 'not-done']).makeOptionMandatory(),
      new Option('--note <text>', 'told to the model').default(''),
      jsonOption(),
    ],
    load: async () => (await import('../commands/resolve.ts')).resolve,
  },
  {
    name: 'rebind',
    summary: 'let a session work in another folder, or on this host',
    args: [ID, ['<dir>', 'the folder']],
    options: json,
    load: async () => (await import('../commands/signals.ts')).rebindCommand,
  },
  {
    name: 'rename',
    summary: 'give a session another title',
    args: [ID, ['<title...>', 'the title']],
    options: json,
    load: async () => (await import('../commands/signals.ts')).renameCommand,
  },
  {
    name: 'complete',
    summary: 'mark a session as completed; `resume` reopens it',
    args: [ID],
    options: json,
    load: async () => (await import('../commands/signals.ts')).completeCommand,
  },
  {
    name: 'archive',
    summary: 'close a session; `resume` reopens it from the archive',
    args: [ID],
    options: json,
    load: async () => (await import('../commands/signals.ts')).archiveCommand,
  },
];
