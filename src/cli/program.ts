/** From the arguments to one command's work, and from whatever happens to an exit code. */
import { Command, CommanderError } from 'commander';
import { EXIT } from '../client/errors.ts';
import { createContext, type Handler, type Options } from './context.ts';
import { COMMANDS } from './commands.ts';
import { CHAT } from './specs/session.ts';
import type { CommandSpec } from './specs/spec.ts';
import { reportError, usageError } from './report.ts';
import { refuseUnknownCommand } from './unknownCommand.ts';
import { VERSION } from './version.ts';

/** Runs one command line to its end. Never rejects. */
export async function runCommandLine(argv: string[], env: NodeJS.ProcessEnv): Promise<number> {
  quietOnClosedPipe();
  let code: number = EXIT.done;
  const program = buildProgram(async (spec, args, options) => {
    code = await perform(spec, args, options, env);
  });
  try {
    refuseUnknownCommand(argv);
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done; // help or version
    return reportError(error instanceof CommanderError ? usageError(error, argv) : error, {
      json: argv.includes('--json'),
      env,
    });
  }
}

type Perform = (spec: CommandSpec, args: string[], options: Options) => Promise<void>;

function buildProgram(work: Perform): Command {
  const program = new Command('holdfast')
    .description('A coding agent that can be killed.')
    .version(VERSION, '-V, --version')
    .enablePositionalOptions()
    .helpCommand('help [command]', 'help for a command');
  addCommand(program, CHAT, work);
  for (const spec of COMMANDS) {
    const command = program.command(spec.name, spec.hidden === true ? { hidden: true } : {});
    addCommand(command.description(spec.summary), spec, work);
  }
  for (const command of [program, ...program.commands]) {
    // Errors have one form, which is ours (report.ts).
    command.exitOverride().configureOutput({ outputError: () => {} });
    command.showSuggestionAfterError(true);
  }
  return program;
}

function addCommand(command: Command, spec: CommandSpec, work: Perform): void {
  for (const [name, description] of spec.args) command.argument(name, description);
  for (const option of spec.options()) command.addOption(option);
  command.option('--no-color', 'plain text');
  if (spec.help !== undefined) command.addHelpText('after', `\n${spec.help}`);
  command.action(async () => work(spec, command.args, command.opts()));
}

async function perform(
  spec: CommandSpec,
  args: string[],
  options: Options,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  try {
    const handler: Handler = await spec.load();
    return await handler(createContext(env, options), args, options);
  } catch (error) {
    return reportError(error, { json: options['json'] === true, env });
  }
}

/** `holdfast events ID | head` ends when head does, without a word. */
function quietOnClosedPipe(): void {
  process.stderr.on('error', ignoreClosedPipe); // nobody reads the progress: the answer is still wanted
  process.stdout.on('error', (error) => {
    ignoreClosedPipe(error);
    process.exit(EXIT.done);
  });
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
