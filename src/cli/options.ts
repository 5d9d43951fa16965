/** The options that several commands share. */
import { InvalidArgumentError, Option } from 'commander';

const APIS = ['responses', 'chat'];
const APPROVALS = ['auto', 'ask', 'read-only'];
const ON_INTERRUPT = ['continue', 'wait'];

export function jsonOption(what = 'one JSON document on stdout'): Option {
  return new Option('--json', what);
}

/** What a session is made with, or changed to when given with `resume` and `run --session`. */
export function sessionOptions(): Option[] {
  return [
    new Option('--workspace <dir>', 'the folder to work in (default: the current one)'),
    new Option('--model <name>', 'the model'),
    new Option('--base-url <url>', 'the service that has it (default: api.openai.com)'),
    new Option(
      '--api <protocol>',
      'what that service speaks (default: responses for api.openai.com, else chat)',
    ).choices(APIS),
    new Option(
      '--context-window <tokens>',
      "how much the model takes (default: by the model's name)",
    ).argParser(whole),
    new Option('--approval <policy>', 'what may be done without asking').choices(APPROVALS),
    new Option('--on-interrupt <what>', 'after a crash: go on, or wait for the user').choices(ON_INTERRUPT),
    new Option('--title <text>', "the session's title (default: the first line of the prompt)"),
  ];
}

/** How a message is sent and waited for. */
export function runOptions(): Option[] {
  return [
    new Option('--message-id <id>', 'the same id twice is one message'),
    new Option('--detach', 'print the session id and return at once'),
    new Option('--timeout <seconds>', 'interrupt the run when it takes longer').argParser(seconds),
  ];
}

export function whole(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number)) {
    throw new InvalidArgumentError('Expected a whole number.');
  }
  return number;
}

function seconds(text: string): number {
  const number = Number(text);
  // A timer of Node holds at most 2^31 - 1 ms.
  if (!(number > 0 && number <= 2_147_483)) throw new InvalidArgumentError('Expected seconds, more than 0.');
  return number;
}
