/** Every command: its arguments and options, and where its work is; a command's imports load when it runs. */
import { Option } from 'commander';
import type { Handler } from './context.ts';
import { jsonOption, runOptions, sessionOptions, whole } from './options.ts';

export interface CommandSpec {
  name: string;
  summary: string;
  /** Name in commander's form (`<id>`, `[id]`, `<text...>`) and description. */
  args: [string, string][];
  options: () => Option[];
  help?: string;
  hidden?: true;
  load: () => Promise<Handler>;
}

const ID: [string, string] = ['<id>', "the session's id, or its beginning"];
const none = (): Option[] => [];
const json = (): Option[] => [jsonOption()];

/** `holdfast [PROMPT]` itself. */
export const CHAT: CommandSpec = {
  name: 'holdfast',
  summary: 'chat in a new session',
  args: [['[prompt]', 'what is to be done; `-` reads it from stdin']],
  options: () => [...sessionOptions(), ...runOptions()],
  help: [
    'Without a command: a chat in a new session that works in the current folder.',
    'A session goes on by itself after any crash; closing the terminal only detaches from it.',
  ].join('\n'),
  load: async () => (await import('./commands/chat.ts')).chat,
};

const SESSION_COMMANDS: CommandSpec[] = [
  {
    name: 'run',
    summary: 'send a prompt, follow its run to the end, print the answer',
    args: [['[prompt...]', 'what is to be done; `-` reads it from stdin']],
    options: () => [
      ...sessionOptions(),
      new Option('--session <id>', 'go on in this session'),
      ...runOptions(),
      jsonOption('events on stdout, one JSON document a line'),
    ],
    help: [
      'The answer goes to stdout, once; progress goes to stderr.',
      'Ctrl+C interrupts the run, a second Ctrl+C detaches and lets it go on.',
      'Exit codes: 0 done, 1 failed, 2 usage, 3 waits for a person, 4 no server or worker,',
      '5 workspace not found, 6 interrupted, 130 detached.',
    ].join('\n'),
    load: async () => (await import('./commands/run.ts')).run,
  },
  {
    name: 'resume',
    summary: 'go on in a session: its transcript, then a prompt',
    args: [['[id]', "the session's id, or its beginning (default: choose from a list)"]],
    options: () => [
      new Option('--last', 'the session that was used last'),
      new Option('--prompt <text>', 'send this at once'),
      ...sessionOptions(),
      ...runOptions(),
      jsonOption('with --prompt: events on stdout, one JSON document a line'),
    ],
    load: async () => (await import('./commands/resume.ts')).resume,
  },
  {
    name: 'send',
    summary: 'leave a message with a session; prints its id and returns',
    args: [ID, ['<text...>', 'the message; `-` reads it from stdin']],
    options: () => [
      new Option('--steer', "enter the run under way, instead of waiting for the run's end"),
      new Option('--message-id <id>', 'the same id twice is one message'),
      jsonOption(),
    ],
    load: async () => (await import('./commands/send.ts')).send,
  },
  {
    name: 'wait',
    summary: 'wait until a session is idle; exit code as `run`',
    args: [ID],
    options: json,
    load: async () => (await import('./commands/wait.ts')).wait,
  },
  {
    name: 'sessions',
    summary: 'list sessions, newest first',
    args: [],
    options: () => [
      new Option('--all', 'archived ones too'),
      new Option('--status <status>', 'only these').choices(['active', 'completed', 'archived']),
      new Option('--limit <n>', 'at most so many').argParser(whole),
      jsonOption(),
    ],
    load: async () => (await import('./commands/sessions.ts')).sessions,
  },
  {
    name: 'show',
    summary: 'what is known of a session',
    args: [ID],
    options: json,
    load: async () => (await import('./commands/show.ts')).show,
  },
  {
    name: 'events',
    summary: "a session's events in order",
    args: [ID],
    options: () => [
      new Option('--from <seq>', 'begin with this one').argParser(whole),
      new Option('--follow', 'go on with what comes'),
      jsonOption('one JSON document a line'),
    ],
    load: async () => (await import('./commands/events.ts')).events,
  },
  {
    name: 'context',
    summary: 'what the next model call would be sent',
    args: [ID],
    options: json,
    load: async () => (await import('./commands/contextCommand.ts')).context,
  },
];

const DECISION_COMMANDS: CommandSpec[] = [
  {
    name: 'interrupt',
    summary: "end a session's run",
    args: [ID],
    options: json,
    load: async () => (await import('./commands/signals.ts')).interruptCommand,
  },
  {
    name: 'approve',
    summary: 'let pending calls run',
    args: [ID, ['[call_id]', 'only this call']],
    options: json,
    load: async () => (await import('./commands/decide.ts')).approve,
  },
  {
    name: 'deny',
    summary: 'refuse pending calls',
    args: [ID, ['[call_id]', 'only this call']],
    options: () => [new Option('--reason <text>', 'told to the model').default(''), jsonOption()],
    load: async () => (await import('./commands/decide.ts')).deny,
  },
  {
    name: 'rebind',
    summary: 'let a session work in another folder, or on this host',
    args: [ID, ['<dir>', 'the folder']],
    options: json,
    load: async () => (await import('./commands/signals.ts')).rebindCommand,
  },
  {
    name: 'rename',
    summary: 'give a session another title',
    args: [ID, ['<title...>', 'the title']],
    options: json,
    load: async () => (await import('./commands/signals.ts')).renameCommand,
  },
  {
    name: 'complete',
    summary: 'mark a session as completed; `resume` reopens it',
    args: [ID],
    options: json,
    load: async () => (await import('./commands/signals.ts')).completeCommand,
  },
  {
    name: 'archive',
    summary: 'close a session; `resume` reopens it from the archive',
    args: [ID],
    options: json,
    load: async () => (await import('./commands/signals.ts')).archiveCommand,
  },
];

const INSTALLATION_COMMANDS: CommandSpec[] = [
  {
    name: 'up',
    summary: 'start or repair the server and the worker of this home',
    args: [],
    options: () => [new Option('--foreground', 'stay until Ctrl+C, then stop them'), jsonOption()],
    load: async () => (await import('./commands/installation.ts')).up,
  },
  {
    name: 'down',
    summary: 'stop the server and the worker of this home; sessions stay',
    args: [],
    options: json,
    load: async () => (await import('./commands/installation.ts')).down,
  },
  {
    name: 'status',
    summary: 'what runs in this home; exit code 4 when something does not',
    args: [],
    options: json,
    load: async () => (await import('./commands/installation.ts')).status,
  },
  {
    name: 'worker',
    summary: 'a worker alone, for a shared cluster',
    args: [],
    options: none,
    load: async () => (await import('./commands/worker.ts')).worker,
  },
  {
    name: 'web',
    summary: "the Temporal Web UI's address, of a session or of all",
    args: [['[id]', "the session's id, or its beginning"]],
    options: json,
    load: async () => (await import('./commands/web.ts')).web,
  },
  {
    name: 'doctor',
    summary: 'check what could keep Holdfast from working',
    args: [],
    options: json,
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'config',
    summary: 'the settings, and where each comes from',
    args: [],
    options: () => [
      new Option('--workspace <dir>', 'of this folder (default: the current one)'),
      jsonOption(),
    ],
    load: async () => (await import('./commands/config.ts')).config,
  },
  {
    name: 'demo',
    summary: 'a repair that survives a kill, without a key',
    args: [],
    options: none,
    load: async () => (await import('./commands/demo.ts')).demo,
  },
  {
    name: 'completion',
    summary: 'a completion script for your shell',
    args: [['<shell>', 'bash, zsh or fish']],
    options: none,
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  {
    name: 'complete-ids',
    summary: 'ids for shell completion',
    args: [],
    options: none,
    hidden: true,
    load: async () => (await import('./commands/completion.ts')).completeIds,
  },
];

export const COMMANDS: CommandSpec[] = [...SESSION_COMMANDS, ...DECISION_COMMANDS, ...INSTALLATION_COMMANDS];
