/** The environment of the commands that a model runs: the user's own, without what belongs to the agent. */

/** Keys and certificates that the agent itself was given; a command has no use for them but to leak them. */
const SECRETS = new Set(['OPENAI_API_KEY', 'OPENAI_ADMIN_KEY', 'TEMPORAL_API_KEY', 'TEMPORAL_CODEC_AUTH']);

/**
 * TEMPORAL_TLS…: certificates and keys; TEMPORAL_GRPC_META_…: headers, which may authorize; HOLDFAST_…: this
 * installation's settings and test hooks, which a command that runs Holdfast itself must not take over.
 */
const SECRET_PREFIXES = ['TEMPORAL_TLS', 'TEMPORAL_GRPC_META', 'HOLDFAST_'];

/**
 * Nobody can answer and nothing renders, so nothing may wait for an answer or draw. NO_COLOR is not set: a
 * spool is no terminal, so colour is off, and where FORCE_COLOR is set too, Node warns on stderr.
 */
const WITHOUT_TERMINAL: Readonly<Record<string, string>> = {
  // No cursor movement from programs that ask terminfo.
  TERM: 'dumb',
  // `git log` and `man` print instead of paging.
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  // `git rebase --continue` and `git merge` take the prepared message instead of opening an editor.
  GIT_EDITOR: 'true',
  // A missing credential is an error at once, not a question.
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
};

/** Set unless the user has set it: what Python printed before a kill is then in the output. */
const DEFAULTS: Readonly<Record<string, string>> = { PYTHONUNBUFFERED: '1' };

/** Made from the worker's own environment. HOLDFAST_OPERATION_ID is added for each command (runner/start.ts). */
export function commandEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !isSecret(name));
  return { ...DEFAULTS, ...Object.fromEntries(kept), ...WITHOUT_TERMINAL };
}

function isSecret(name: string): boolean {
  return SECRETS.has(name) || SECRET_PREFIXES.some((prefix) => name.startsWith(prefix));
}
