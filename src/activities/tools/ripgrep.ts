/** ripgrep over a workspace, bounded in time and output; what git ignores is left out. */
import { stat } from 'node:fs/promises';
import { rgPath } from '@vscode/ripgrep';
import { execa } from 'execa';
import { hasCode } from '../../host/files.ts';
import { STAGED_GLOB } from '../workspace/fileChange.ts';
import { describeMissing } from '../workspace/nearNames.ts';
import { resolveInWorkspace } from '../workspace/paths.ts';
import { Interrupted, Refusal, refusalOf } from '../workspace/refusal.ts';
import type { ToolContext } from './tool.ts';
import { cleanText } from './utf8.ts';

/** A search that takes longer is stopped, and what was found until then is shown. */
export const SEARCH_MAX_MS = 60_000;

/** Description of a `glob` argument. */
export const GLOB_DESCRIPTION =
  'Only files that match, as in .gitignore: `*.ts` at any depth, `src/**/*.ts` from the workspace root, `!*.md` for all but those.';

export interface RipgrepResult {
  stdout: Buffer;
  /** Why `stdout` is only a beginning. */
  cut: 'size' | 'time' | undefined;
  /** What ripgrep said about files or patterns that it could not read. */
  errors: string;
}

export interface RipgrepQuery {
  /** Options before the globs. */
  options: string[];
  path: string | undefined;
  glob: string | undefined;
  /** Of stdout; ripgrep is stopped when it has written more. */
  max_bytes: number;
}

/** Runs ripgrep. Throws Refusal for a path that can't be searched and Interrupted on abort. */
export async function ripgrep(query: RipgrepQuery, context: ToolContext): Promise<RipgrepResult> {
  const place = await searchable(query.path ?? '.', context.workspace);
  if (context.signal.aborted) throw new Interrupted('Interrupted before it looked.');
  const result = await execa(rgPath, argumentsFor(query, place), {
    cwd: context.workspace,
    env: context.env,
    extendEnv: false,
    stdin: 'ignore',
    encoding: 'buffer',
    stripFinalNewline: false,
    maxBuffer: { stdout: query.max_bytes, stderr: 64 * 1024 },
    timeout: SEARCH_MAX_MS,
    cancelSignal: context.signal,
    forceKillAfterDelay: 1_000,
    reject: false,
  });
  if (result.isCanceled) throw new Interrupted('Interrupted while it looked; nothing was changed.');
  const cut = result.isMaxBuffer ? 'size' : result.timedOut ? 'time' : undefined;
  if (result.failed && result.exitCode === undefined && !cut)
    throw new Error(`Expected ripgrep to run (${rgPath}), found: ${result.shortMessage}`);
  return {
    stdout: Buffer.from(result.stdout),
    cut,
    errors: cleanText(result.stderr).replaceAll(/^rg: /gm, '').trim(),
  };
}

function argumentsFor({ options, glob }: RipgrepQuery, place: string): string[] {
  const globs = glob === undefined || glob === '' ? [] : [glob];
  if (glob?.includes('\0')) throw new Refusal('Expected a glob, found one with NUL in it.');
  // The last glob that matches decides, so ours come after the model's.
  globs.push(`!${STAGED_GLOB}`);
  if (!place.split('/').includes('.git')) globs.push('!.git');
  return [
    '--no-config',
    '--no-require-git',
    '--hidden',
    '--color=never',
    '--sort=path',
    '--path-separator=/',
    ...options,
    ...globs.map((pattern) => `--glob=${pattern}`),
    '--',
    place === '.' ? './' : `./${place}`,
  ];
}

/** The path as ripgrep is given it. A fifo would hold it for ever, so only files and folders are. */
async function searchable(given: string, workspace: string): Promise<string> {
  const path = await resolveInWorkspace(workspace, given);
  try {
    const stats = await stat(path.absolute);
    if (stats.isDirectory() || stats.isFile()) return path.relative;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw new Refusal(await describeMissing(workspace, path));
    throw refusalOf(error, given);
  }
  throw new Refusal(`${given} is neither a file nor a folder (a fifo, socket or device).`);
}

/** A path as ripgrep prints it, without the `./` that it was asked with. */
export function withoutDot(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}
