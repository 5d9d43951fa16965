/** Errors as the user sees them: what was expected, what was found, what to do next. */
import type { CommanderError } from 'commander';
import { EXIT, HoldfastError, type ExitCode } from '../client/errors.ts';
import { printable } from '../ui/text.ts';

/** Says the error, on stderr or as JSON on stdout, and returns its exit code. */
export function reportError(
  error: unknown,
  { json, env }: { json: boolean; env: NodeJS.ProcessEnv },
): ExitCode {
  const known = asHoldfastError(error);
  const { code, message, remedy } = known;
  if (json) process.stdout.write(`${JSON.stringify({ error: { code, message, remedy } })}\n`);
  else process.stderr.write(printable(`holdfast: ${message}\n${remedy === '' ? '' : `  ${remedy}\n`}`));
  if (env['HOLDFAST_DEBUG'] === '1') process.stderr.write(`${stackOf(error)}\n`);
  return known.exitCode;
}

/** What commander found wrong with the arguments. */
export function usageError(error: CommanderError, argv: string[]): HoldfastError {
  const [found = '', hint = ''] = error.message.replace(/^error: /, '').split('\n');
  const command = argv.find((arg) => /^[a-z]+$/.test(arg));
  const suggestion = /Did you mean (.+)\?/.exec(hint)?.[1];
  return new HoldfastError(
    'usage',
    `Expected arguments as \`holdfast --help\` lists them, found ${found.replace(/\.$/, '')}.`,
    suggestion === undefined
      ? `See \`holdfast ${command === undefined ? '' : `${command} `}--help\`.`
      : `Did you mean ${suggestion.replace(/^one of /, '')}?`,
  );
}

function asHoldfastError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Error && 'remedy' in error && typeof error.remedy === 'string') {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : 'settings';
    return new HoldfastError(code, message, error.remedy);
  }
  return new HoldfastError(
    'internal',
    message,
    'Run it again with HOLDFAST_DEBUG=1 to see where it happened.',
    EXIT.runFailed,
  );
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by: ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
