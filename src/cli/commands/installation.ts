/** `holdfast up`, `down` and `status`: the supervisor, server and worker of this home. */
import { EXIT } from '../../client/errors.ts';
import { locateEndpoint, usesExistingService } from '../../client/endpoint.ts';
import { prepareHome } from '../../host/home.ts';
import { ago } from '../../ui/time.ts';
import type { Status } from '../../server/installation.ts';
import { keepKey, settingsFor } from '../settings.ts';
import type { Context, Handler } from '../context.ts';

/** `holdfast up`: resolves when all takes work. */
export const up: Handler = async (context, _args, options) => {
  await prepareHome(context.home);
  await keepKey(context, await settingsFor(context, options));
  if (options['foreground'] === true) return upForeground(context);
  await locateEndpoint({ ...context.home }, embeddedOnly(context.env), {
    onProgress: (line) => context.screen.note(context.screen.styles.dim(line)),
  });
  return status(context, [], options);
};

/** `holdfast down`: sessions stay, and go on with the next `up`. */
export const down: Handler = async ({ home, screen }, _args, options) => {
  const { takeDown } = await import('../../server/installation.ts');
  const { stopped } = await takeDown(home);
  if (options['json'] === true) screen.json({ home: home.root, stopped });
  else screen.note(stopped.length === 0 ? 'Nothing was running.' : `Stopped: ${stopped.join(', ')}.`);
  return EXIT.done;
};

/** `holdfast status`: exit code 4 when a part does not run. */
export const status: Handler = async ({ home, screen, env }, _args, options) => {
  const { readStatus } = await import('../../server/installation.ts');
  const found = await readStatus(home);
  if (options['json'] === true) screen.json(found);
  else {
    for (const line of statusLines(found)) screen.print(line);
    if (usesExistingService(env)) {
      screen.note("TEMPORAL_ADDRESS or its like is set: commands use that service, not this home's server.");
    }
  }
  return found.supervisor && found.server && found.worker ? EXIT.done : EXIT.noService;
};

async function upForeground({ home, env, screen }: Context): Promise<number> {
  const { runForeground } = await import('../../server/installation.ts');
  await runForeground(home, {
    env: embeddedOnly(env),
    onProgress: (line) => screen.note(screen.styles.dim(line)),
    onReady: ({ address, ui_url }) =>
      screen.note(`ready: server ${address}, web ${ui_url}; Ctrl+C stops all`),
  });
  return EXIT.done;
}

/** These commands are about this home's own server, whatever service the environment names. */
function embeddedOnly(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { TEMPORAL_ADDRESS: _a, TEMPORAL_PROFILE: _p, TEMPORAL_CONFIG_FILE: _c, ...rest } = env;
  return rest;
}

function statusLines({ home, supervisor, server, worker }: Status): string[] {
  return [
    `home        ${home}`,
    `supervisor  ${supervisor === null ? 'not running' : `pid ${supervisor.pid}`}`,
    `server      ${server === null ? 'not running' : `pid ${server.pid}, ${server.address}, Temporal ${server.version}`}`,
    `web         ${server === null ? '-' : server.ui_url}`,
    `worker      ${worker === null ? 'not running' : `pid ${worker.pid}, ${worker.state}, started ${ago(worker.started_at)}`}`,
  ];
}
