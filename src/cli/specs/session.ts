/** Commands that give a session work, or look into it. */
import { Option } from 'commander';
import { jsonOption, runOptions, sessionOptions, whole } from '../options.ts';
import { ID, json } from './spec.ts';
import type { CommandSpec } from './spec.ts';

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
  load: async () => (await import('../commands/chat.ts')).chat,
};

export const SESSION_COMMANDS: CommandSpec[] = [
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
    load: async () => (await import('../commands/run.ts')).run,
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
    load: async () => (await import('../commands/resume.ts')).resume,
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
    load: async () => (await import('../commands/send.ts')).send,
  },
  {
    name: 'wait',
    summary: 'wait until a session is idle; exit code as `run`',
    args: [ID],
    options: json,
    load: async () => (await import('../commands/wait.ts')).wait,
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
    load: async () => (await import('../commands/sessions.ts')).sessions,
  },
  {
    name: 'show',
    summary: 'what is known of a session',
    args: [ID],
    options: json,
    load: async () => (await import('../commands/show.ts')).show,
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
    load: async () => (await import('../commands/events.ts')).events,
  },
  {
    name: 'context',
    summary: 'what the next model call would be sent',
    args: [ID],
    options: json,
    load: async () => (await import('../commands/contextCommand.ts')).context,
  },
  {
    name: 'compact',
    summary: 'put a summary in the place of the older conversation; the events stay',
    args: [ID],
    options: json,
    load: async () => (await import('../commands/compact.ts')).compact,
  },
];
