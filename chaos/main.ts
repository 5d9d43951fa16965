/**
 * `npm run chaos -- --kills N --seed S [--sessions K] [--verbose]`: kills Holdfast at random and at exact
 * moments while it works, then holds the world against the log. Exit code 1 if any verdict is not 0.
 */
import { chaos } from './chaos.ts';
import { readOptions } from './options.ts';

const options = readOptions(process.argv.slice(2));
const stop = new AbortController();
// The first Ctrl+C ends the killing alone: what was done until then is checked and cleaned up.
process.once('SIGINT', () => stop.abort());
const say = (line: string): void => {
  if (options.verbose) process.stderr.write(`${line}\n`);
};
const { report, violations, kept } = await chaos(options, say, stop.signal);
process.stdout.write(`${report}\n`);
if (kept !== undefined) process.stdout.write(`\nKept for a look: ${kept}\n`);
process.exitCode = violations.length > 0 ? 1 : 0;
