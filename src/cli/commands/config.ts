import { contextWindow } from '../../domain/contextWindow.ts';
import { endpointName, keyFor } from '../../host/credentials.ts';
import type { Settings } from '../../host/settings.ts';
import { pad } from '../../ui/text.ts';
import { settingsFor } from '../settings.ts';
import { workspaceAt } from '../workspace.ts';
import type { Context, Handler } from '../context.ts';

interface Shown {
  value: string | number | null;
  origin: string;
  source: string | null;
}

/** `holdfast config`: each value and where it comes from, secrets masked. */
export const config: Handler = async (context, _args, options) => {
  const { home, screen } = context;
  const path = await workspaceAt(options['workspace'] as string | undefined);
  const settings = await settingsFor(context, options, path);
  const shown: Record<string, Shown> = {
    ...settings,
    context_window: shownWindow(settings),
    base_url: { ...settings.base_url, value: endpointName(settings.base_url.value) },
    api_key: await shownKey(context, settings.base_url.value),
    home: shownVariable(context, 'HOLDFAST_HOME', home.root),
    temporal_address: shownVariable(context, 'TEMPORAL_ADDRESS', null),
    temporal_namespace: shownVariable(context, 'TEMPORAL_NAMESPACE', null),
    temporal_profile: shownVariable(context, 'TEMPORAL_PROFILE', null),
    temporal_cli: shownVariable(context, 'HOLDFAST_TEMPORAL_CLI', null),
  };
  if (options['json'] === true) {
    screen.json(shown);
    return 0;
  }
  for (const [name, { value, origin, source }] of Object.entries(shown)) {
    const where = source === null ? origin : `${origin}: ${source}`;
    screen.print(`${pad(name, 20)}${value ?? unset(name)}  ${screen.styles.dim(`(${where})`)}`);
  }
  return 0;
};

/** Unset, it is what the model's name says. */
function shownWindow({ model, context_window }: Settings): Shown {
  return { ...context_window, value: context_window.value ?? contextWindow({ model: model.value }) };
}

async function shownKey({ home, env }: Context, base_url: string | null): Promise<Shown> {
  const stored = await keyFor(home, base_url, {});
  if (stored !== undefined) {
    return { value: mask(stored), origin: 'home', source: home.credentialsFile };
  }
  const key = await keyFor(home, base_url, env);
  if (key === undefined) return { value: null, origin: 'default', source: null };
  return { value: mask(key), origin: 'environment', source: 'OPENAI_API_KEY' };
}

function shownVariable({ env }: Context, name: string, fallback: string | null): Shown {
  const value = env[name];
  return value
    ? { value, origin: 'environment', source: name }
    : { value: fallback, origin: 'default', source: null };
}

/** Enough to tell two keys apart, too little to use one. */
function mask(key: string): string {
  return key.length < 12 ? '****' : `****${key.slice(-4)}`;
}

function unset(name: string): string {
  return name === 'approval' ? 'ask in chat, auto in run' : '-';
}
