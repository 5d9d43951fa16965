/** What a typed text means. */

export type Words =
  | { kind: 'nothing' | 'help' | 'exit' | 'interrupt' | 'compact' }
  /** As after `holdfast goal ID`. */
  | { kind: 'goal'; words: string[] }
  | { kind: 'unknown'; message: string }
  | { kind: 'decide'; decision: 'approve' | 'deny'; reason: string }
  | { kind: 'message'; text: string; delivery: 'queue' | 'steer' };

export const HELP = [
  '/steer TEXT  enters the run under way; other messages wait for its end',
  '/interrupt   ends the run (also Ctrl+C)',
  '/goal        shows the goal; /goal set TEXT, budget N, pause, resume and clear change it',
  '/compact     puts a summary in the place of the older conversation',
  '/exit        leaves; the session stays (also Ctrl+D)',
].join('\n');

/** `asked`: a call waits for yes or no. */
export function readWords(text: string, asked: boolean): Words {
  const trimmed = text.trim();
  if (trimmed === '') return { kind: 'nothing' };
  const [, command = '', rest = ''] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(trimmed) ?? [];
  if (command !== '') return readCommand(command, rest);
  return asked ? readDecision(trimmed) : { kind: 'message', text, delivery: 'queue' };
}

function readCommand(command: string, rest: string): Words {
  switch (command) {
    case 'help':
      return { kind: 'help' };
    case 'exit':
    case 'quit':
      return { kind: 'exit' };
    case 'interrupt':
      return { kind: 'interrupt' };
    case 'goal':
      return readGoal(rest.trim());
    case 'compact':
      return { kind: 'compact' };
    case 'steer':
      return rest === ''
        ? { kind: 'unknown', message: 'Expected text after /steer.' }
        : { kind: 'message', text: rest, delivery: 'steer' };
    default:
      return { kind: 'unknown', message: `There is no /${command}.\n${HELP}` };
  }
}

function readGoal(text: string): Words {
  const [, action = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  // The command would read it from stdin, where the conversation is typed.
  if (rest === '-') return { kind: 'unknown', message: 'Expected the goal itself after /goal set.' };
  return { kind: 'goal', words: [action, rest].filter((word) => word !== '') };
}

function readDecision(text: string): Words {
  if (/^y(es)?$/i.test(text)) return { kind: 'decide', decision: 'approve', reason: '' };
  const reason = /^no?(?:\s+([\s\S]+))?$/i.exec(text);
  if (reason !== null) return { kind: 'decide', decision: 'deny', reason: reason[1] ?? '' };
  return {
    kind: 'unknown',
    message: 'Answer y or n; `n REASON` tells the model why. /help lists what else there is.',
  };
}
