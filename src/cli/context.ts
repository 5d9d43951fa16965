/** What every command is given. */
import type { Service } from '../client/service.ts';
import { locateHome, type Home } from '../host/home.ts';
import { Screen } from '../ui/screen.ts';
import { detectTerminal } from '../ui/terminal.ts';

export interface Context {
  env: NodeJS.ProcessEnv;
  home: Home;
  screen: Screen;
}

/** Options as commander gives them: camelCase names. */
export type Options = Record<string, unknown>;

/** A command's work; resolves with the exit code. */
export type Handler = (context: Context, args: string[], options: Options) => Promise<number>;

export function createContext(env: NodeJS.ProcessEnv, options: Options): Context {
  return {
    env,
    home: locateHome(env),
    screen: new Screen(detectTerminal(env, { color: options['color'] !== false })),
  };
}

/**
 * Connects, works, and closes. `worker: false`: a worker that is on its way up is not waited for, since
 * the command needs none.
 */
export async function withService<T>(
  { home, env, screen }: Context,
  work: (service: Service) => Promise<T>,
  options: { worker?: boolean } = {},
): Promise<T> {
  const { connect } = await import('../client/service.ts');
  const service = await connect(home, env, {
    ...options,
    onProgress: (line) => screen.note(screen.styles.dim(line)),
  });
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}
