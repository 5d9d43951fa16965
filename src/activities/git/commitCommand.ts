/**
 * The commit as a command for the detached runner: so a long hook outlives the worker like any command, and
 * leaves the same proofs.
 *
 * `git commit --only` makes the commit from HEAD and the named paths in an index of its own, and takes over
 * the result into the real index only when all went well: what else is staged stays as it was, whatever
 * the hooks say. It must know a new file first, which `add --intent-to-add` does without staging a content;
 * where the commit fails that is taken back.
 */
import { writeFileAtomic } from '../../host/files.ts';
import type { OperationRecord } from '../journal/operation.ts';
import type { CheckedCommit } from './commitPlan.ts';
import { gitEnvironment } from './git.ts';

/** The files that the command reads, in the operation's folder. */
export class CommitFiles {
  readonly message: string;
  readonly #pathspecs: string;
  readonly #new_pathspecs: string;
  readonly #new_paths: string;

  constructor(record: OperationRecord, attempt: number) {
    this.message = record.path(`message-${attempt}`);
    this.#pathspecs = record.path(`pathspecs-${attempt}`);
    this.#new_pathspecs = record.path(`new-pathspecs-${attempt}`);
    this.#new_paths = record.path(`new-paths-${attempt}`);
  }

  async write(message: Buffer, { paths = [], untracked }: CheckedCommit): Promise<void> {
    await writeFileAtomic(this.message, message);
    await writeFileAtomic(this.#pathspecs, listOf(paths, ':(literal)'));
    await writeFileAtomic(this.#new_pathspecs, listOf(untracked, ':(literal)'));
    await writeFileAtomic(this.#new_paths, listOf(untracked, ''));
  }

  /** The command for bash. */
  command({ paths, untracked, repository }: CheckedCommit): string {
    const commit = `git commit --quiet --cleanup=whitespace --file=${quoted(this.message)}`;
    if (paths === undefined) return commit;
    const only = `${commit} --only --pathspec-from-file=${quoted(this.#pathspecs)} --pathspec-file-nul`;
    if (untracked.length === 0) return only;
    return [
      'trap : TERM', // what follows a stopped commit is done, too
      `git add --intent-to-add --pathspec-from-file=${quoted(this.#new_pathspecs)} --pathspec-file-nul || exit`,
      only,
      'code=$?',
      `head=$(git rev-parse --quiet --verify HEAD)`,
      `if [ "$code" -ne 0 ] && [ "$head" = ${quoted(repository.head ?? '')} ]; then`,
      `  git update-index -z --force-remove --stdin < ${quoted(this.#new_paths)}`,
      'fi',
      'exit "$code"',
    ].join('\n');
  }
}

/**
 * The environment of the commit and its hooks. `signs`: without a terminal or a display, a passphrase that
 * no agent knows is an error at once instead of a question that nobody sees.
 */
export function commitEnvironment(env: NodeJS.ProcessEnv, signs: boolean): NodeJS.ProcessEnv {
  const cleaned = gitEnvironment(env);
  if (!signs) return cleaned;
  const { GPG_TTY: _tty, DISPLAY: _display, WAYLAND_DISPLAY: _wayland, ...rest } = cleaned;
  return { ...rest, SSH_ASKPASS_REQUIRE: 'never' };
}

function listOf(paths: string[], before: string): Buffer {
  return Buffer.from(paths.map((path) => `${before}${path}\0`).join(''), 'latin1');
}

/** For sh: in single quotes nothing is special. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
