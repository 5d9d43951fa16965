import { existingEndpoint, usesExistingService } from '../../client/endpoint.ts';
import { keyFor, endpointName } from '../../host/credentials.ts';
import { checkModelEndpoint, runDoctor, type DoctorOptions } from '../../server/doctor.ts';
import { workspaceAt } from '../workspace.ts';
import { settingsFor } from '../settings.ts';
import type { Handler } from '../context.ts';

const CONNECT_TIMEOUT_MS = 3_000;

/** `holdfast doctor`: exit code 1 when a check fails. */
export const doctor: Handler = async (context, _args, options) => {
  const { home, env, screen } = context;
  const settings = await settingsFor(context, options, await workspaceAt(undefined));
  const base_url = settings.base_url.value;
  const service = usesExistingService(env) ? await existingService(env) : undefined;
  const [checks, model] = await Promise.all([
    runDoctor(home, { env, ...(service && { service }) }),
    keyFor(home, base_url, env).then(async (key) => checkModelEndpoint(endpointName(base_url), key)),
  ]);
  const all = [...checks, model];
  if (options['json'] === true) screen.json(all);
  else {
    for (const { name, ok, found, remedy } of all) {
      const mark = ok ? screen.styles.good('ok  ') : screen.styles.bad('FAIL');
      screen.print(`${mark} ${name}: ${found}`);
      if (remedy !== undefined) screen.print(`     ${remedy}`);
    }
  }
  return all.every(({ ok }) => ok) ? 0 : 1;
};

async function existingService(env: NodeJS.ProcessEnv): Promise<NonNullable<DoctorOptions['service']>> {
  const { connection, namespace } = await existingEndpoint(env);
  return {
    address: connection.address,
    namespace,
    connect: async () => {
      const { Connection } = await import('@temporalio/client');
      return Connection.connect({ ...connection, connectTimeout: CONNECT_TIMEOUT_MS });
    },
  };
}
