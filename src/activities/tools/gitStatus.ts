/** git_status: the repository of the workspace as it is now. Runs no hook, asks nothing, writes nothing. */
import * as z from 'zod';
import type { ToolOutcome } from '../../domain/tool.ts';
import { shownPath } from '../git/git.ts';
import {
  branchWords,
  findRepository,
  headWords,
  lockWords,
  unfinished,
  type Repository,
} from '../git/repository.ts';
import { readStatus, type ChangedPath, type GitStatus } from '../git/status.ts';
import { settle } from '../workspace/refusal.ts';
import { boundOutput } from './boundedOutput.ts';
import { defineTool, type ToolContext } from './tool.ts';
import { repeatable } from './wording.ts';

const NAME = 'git_status';

const schema = z.strictObject({});

const LETTERS: Record<string, string> = {
  M: 'modified',
  T: 'type changed',
  A: 'new',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
};

export const gitStatus = defineTool<z.infer<typeof schema>>({
  name: NAME,
  description:
    'Says where the git repository of the workspace is: branch, full HEAD sha, ahead and behind of the upstream as last fetched, an unfinished merge or rebase, conflicts, and the staged, unstaged and untracked files of the workspace. Runs no hooks and changes nothing.',
  schema,
  effect: () => 'read',
  target: () => 'the repository of the workspace',
  run: (_, context) => settle(() => run(context)),
  reconcile: repeatable(NAME),
});

async function run(context: ToolContext): Promise<ToolOutcome> {
  const place = { cwd: context.workspace, env: context.env };
  const repository = await findRepository(place);
  const [status, under_way, lock] = await Promise.all([
    readStatus(place, { untracked: 'normal', renames: true, paths: ['.'] }),
    unfinished(repository),
    lockWords(repository),
  ]);
  const lines = [
    `On ${branchWords(repository.branch)}, HEAD ${headWords(repository.head)}.`,
    ...(repository.prefix === ''
      ? []
      : [
          `The workspace is ${repository.prefix} of the repository at ${repository.top}; only its files are listed.`,
        ]),
    ...upstreamLines(status),
    ...(under_way === undefined ? [] : [`A ${under_way.what} is in progress: ${under_way.next}.`]),
    ...(lock === undefined ? [] : [lock]),
    ...listing(status.paths, repository),
  ];
  const text = Buffer.from(lines.join('\n'));
  return { status: 'success', ...(await boundOutput(text, context)) };
}

function upstreamLines({ upstream, ahead, behind }: GitStatus): string[] {
  if (upstream === null) return [];
  const name = shownPath(upstream);
  if (ahead === null) return [`Upstream ${name} is not there.`];
  return [`Upstream ${name}: ${ahead} ahead, ${behind ?? 0} behind.`];
}

function listing(paths: ChangedPath[], repository: Repository): string[] {
  if (paths.length === 0) return ['Nothing is changed.'];
  const tracked = paths.filter(({ kind }) => kind === 'tracked');
  const staged = tracked.filter((path) => path.staged !== '.');
  const unstaged = tracked.filter((path) => path.unstaged !== '.');
  const shown = (path: ChangedPath): string => shownIn(repository, path);
  return [
    ...group(
      'Conflicts',
      paths
        .filter(({ kind }) => kind === 'conflict')
        .map((path) => `${path.staged}${path.unstaged} ${shown(path)}`),
    ),
    ...group(
      'Staged',
      staged.map((path) => `${LETTERS[path.staged] ?? path.staged} ${shown(path)}`),
    ),
    ...group(
      'Not staged',
      unstaged.map((path) => `${LETTERS[path.unstaged] ?? path.unstaged} ${shown(path)}`),
    ),
    ...group('Untracked', paths.filter(({ kind }) => kind === 'untracked').map(shown)),
  ];
}

function group(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`${title} (${lines.length}):`, ...lines.map((line) => `  ${line}`)];
}

function shownIn({ prefix }: Repository, { raw, from }: ChangedPath): string {
  const relative = (path: string): string => {
    const shown = shownPath(path);
    return shown.startsWith(prefix) ? shown.slice(prefix.length) : `/${shown} of the repository`;
  };
  return from === undefined ? relative(raw) : `${relative(raw)} (from ${relative(from)})`;
}
