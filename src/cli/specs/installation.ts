/** Commands about this installation. */
import { Option } from 'commander';
import { jsonOption } from '../options.ts';
import { json, none } from './spec.ts';
import type { CommandSpec } from './spec.ts';

export const INSTALLATION_COMMANDS: CommandSpec[] = [
  {
    name: 'up',
    summary: 'start or repair the server and the worker of this home',
    args: [],
    options: () => [new Option('--foreground', 'stay until Ctrl+C, then stop them'), jsonOption()],
    load: async () => (await import('../commands/installation.ts')).up,
  },
  {
    name: 'down',
    summary: 'stop the server and the worker of this home; sessions stay',
    args: [],
    options: json,
    load: async () => (await import('../commands/installation.ts')).down,
  },
  {
    name: 'status',
    summary: 'what runs in this home; exit code 4 when something does not',
    args: [],
    options: json,
    load: async () => (await import('../commands/installation.ts')).status,
  },
  {
    name: 'worker',
    summary: 'a worker alone, for a shared cluster',
    args: [],
    options: none,
    load: async () => (await import('../commands/worker.ts')).worker,
  },
  {
    name: 'web',
    summary: "the Temporal Web UI's address, of a session or of all",
    args: [['[id]', "the session's id, or its beginning"]],
    options: json,
    load: async () => (await import('../commands/web.ts')).web,
  },
  {
    name: 'doctor',
    summary: 'check what could keep Holdfast from working',
    args: [],
    options: json,
    load: async () => (await import('../commands/doctor.ts')).doctor,
  },
  {
    name: 'config',
    summary: 'the settings, and where each comes from',
    args: [],
    options: () => [
      new Option('--workspace <dir>', 'of this folder (default: the current one)'),
      jsonOption(),
    ],
    load: async () => (await import('../commands/config.ts')).config,
  },
  {
    name: 'demo',
    summary: 'a repair that survives a kill, without a key',
    args: [],
    options: none,
    load: async () => (await import('../commands/demo.ts')).demo,
  },
  {
    name: 'completion',
    summary: 'a completion script for your shell',
    args: [['<shell>', 'bash, zsh or fish']],
    options: none,
    load: async () => (await import('../commands/completion.ts')).completion,
  },
  {
    name: 'complete-ids',
    summary: 'ids for shell completion',
    args: [],
    options: none,
    hidden: true,
    load: async () => (await import('../commands/completion.ts')).completeIds,
  },
];
