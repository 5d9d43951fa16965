/** Runs git to look: without hooks, prompts, network, optional locks, or variables that point elsewhere. */
import { execFile } from 'node:child_process';
import { hasCode } from '../../host/files.ts';
import { cleanText } from '../tools/utf8.ts';
import { Refusal } from '../workspace/refusal.ts';

/** Git's own default for a question that it can answer from its files. */
const LOOK_TIMEOUT_MS = 60_000;
const OUTPUT_MAX_BYTES = 64 * 1024 * 1024;

/**
 * What the user may say to git by the environment. All else that begins with GIT_ points to another
 * repository or index (GIT_DIR …), or is left over from a hook that Holdfast was started from.
 */
const KEPT = new Set([
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_EXEC_PATH',
  'GIT_CEILING_DIRECTORIES',
  'GIT_DISCOVERY_ACROSS_FILESYSTEM',
  'GIT_EDITOR',
  'GIT_PAGER',
  'GIT_TERMINAL_PROMPT',
]);

/** Where git is run, and with what environment. */
export interface GitPlace {
  /** Absolute path. */
  cwd: string;
  /** The environment for commands, as it is in ToolContext. */
  env: NodeJS.ProcessEnv;
}

export interface GitAnswer {
  code: number;
  /** One character for each byte (latin1): paths are bytes. */
  stdout: string;
  /** Clean text. */
  stderr: string;
}

/** A path as git gave it, for people and models. */
export function shownPath(raw: string): string {
  return cleanText(Buffer.from(raw, 'latin1'));
}

/** The environment for git, without what would lead it elsewhere. */
export function gitEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith('GIT_') || KEPT.has(name)),
  );
}

/** Asks git. Resolves with any exit code; rejects with Refusal when git is missing or can't answer in bounds. */
export async function askGit(place: GitPlace, args: string[], stdin = ''): Promise<GitAnswer> {
  const safe = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '--no-pager'];
  const env = {
    ...gitEnvironment(place.env),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...safe, ...args],
      { cwd: place.cwd, env, encoding: 'buffer', timeout: LOOK_TIMEOUT_MS, maxBuffer: OUTPUT_MAX_BYTES },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code;
        if (typeof code !== 'number') return reject(explain(error, args));
        return resolve({ code, stdout: stdout.toString('latin1'), stderr: cleanText(stderr).trim() });
      },
    );
    child.stdin?.on('error', () => {}); // it may have ended without reading
    child.stdin?.end(stdin);
  });
}

/** Asks git for something that it must be able to say. Rejects with Refusal otherwise. */
export async function askGitSurely(place: GitPlace, args: string[], stdin = ''): Promise<string> {
  const { code, stdout, stderr } = await askGit(place, args, stdin);
  if (code === 0) return stdout;
  throw new Refusal(`Expected an answer to \`git ${args[0]}\`, found exit code ${code}: ${stderr}`);
}

function explain(error: unknown, args: string[]): Error {
  if (hasCode(error, 'ENOENT')) {
    return new Refusal(
      'Expected the program git, found none on the PATH of the worker. Install git on this host; until then the git tools can do nothing.',
    );
  }
  if (hasCode(error, 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')) {
    return new Refusal(
      `\`git ${args[0]}\` answered with more than ${OUTPUT_MAX_BYTES} bytes. Name fewer paths, or use bash.`,
    );
  }
  if (error instanceof Error && 'killed' in error && error.killed === true) {
    return new Refusal(
      `\`git ${args[0]}\` did not answer within ${LOOK_TIMEOUT_MS} ms. Use bash to find out why.`,
    );
  }
  return error instanceof Error ? error : new Error(String(error));
}
