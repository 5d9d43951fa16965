/**
 * The settings of one command: flags > environment > the workspace's holdfast.json > the home's. Each value
 * knows where it came from.
 */
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { endpointName, OPENAI_BASE_URL } from './credentials.ts';
import type { Home } from './home.ts';
import { readSettingsFile, SettingsError, type FileSettings } from './settingsFile.ts';

/** A current coding model of OpenAI (https://platform.openai.com/docs/models). */
export const DEFAULT_MODEL = 'gpt-5.5';

export type Origin = 'flag' | 'environment' | 'workspace' | 'home' | 'default';

export interface Setting<T> {
  value: T;
  origin: Origin;
  /** The flag's or variable's name, or the file. */
  source: string | null;
}

export type ApiName = 'responses' | 'chat';
export type ApprovalName = 'auto' | 'ask' | 'read-only';
export type OnInterruptName = 'continue' | 'wait';

export interface Settings {
  model: Setting<string>;
  api: Setting<ApiName>;
  /** Null: api.openai.com. */
  base_url: Setting<string | null>;
  user: Setting<string>;
  /** Null: the command's own default, `ask` in chat and `auto` elsewhere. */
  approval: Setting<ApprovalName | null>;
  on_interrupt: Setting<OnInterruptName>;
}

/** What the command line gives, by the same names. */
export type FlagSettings = Pick<FileSettings, 'model' | 'approval' | 'on_interrupt'>;

export interface SettingsSources {
  home: Home;
  /** Absolute; absent: no workspace is concerned. */
  workspace?: string | undefined;
  env: NodeJS.ProcessEnv;
  flags?: FlagSettings;
}

/** Which environment variable sets what. */
const VARIABLES = {
  HOLDFAST_MODEL: 'model',
  HOLDFAST_API: 'api',
  OPENAI_BASE_URL: 'base_url',
  HOLDFAST_USER: 'user',
  HOLDFAST_APPROVAL: 'approval',
  HOLDFAST_ON_INTERRUPT: 'on_interrupt',
} as const satisfies Record<string, keyof FileSettings>;

interface Layer {
  origin: Origin;
  values: FileSettings;
  source: (key: keyof FileSettings) => string;
}

/** Reads all layers. Rejects with SettingsError, which names the file or variable and the key. */
export async function loadSettings(sources: SettingsSources): Promise<Settings> {
  const layers = await readLayers(sources);
  const pick = <K extends keyof FileSettings>(
    key: K,
    fallback: NonNullable<FileSettings[K]>,
  ): Setting<NonNullable<FileSettings[K]>> => {
    const layer = layers.find(({ values }) => values[key] !== undefined);
    const value = layer?.values[key];
    if (layer === undefined || value === undefined)
      return { value: fallback, origin: 'default', source: null };
    return { value, origin: layer.origin, source: layer.source(key) };
  };
  const url = pick('base_url', OPENAI_BASE_URL);
  const name = endpointName(url.value);
  const base_url = { ...url, value: name === OPENAI_BASE_URL ? null : name };
  const approval = layers.some(({ values }) => values.approval !== undefined)
    ? pick('approval', 'ask')
    : ({ value: null, origin: 'default', source: null } as const);
  return {
    model: pick('model', DEFAULT_MODEL),
    api: pick('api', base_url.value === null ? 'responses' : 'chat'),
    base_url,
    user: pick('user', loginName()),
    approval,
    on_interrupt: pick('on_interrupt', 'continue'),
  };
}

/**
 * The API key of the environment and the endpoint that it may go to. A workspace's file may name another
 * endpoint, but not take the key there: the file may be a stranger's.
 */
export function keyOfEnvironment(
  settings: Settings,
  env: NodeJS.ProcessEnv,
): { key: string; base_url: string | null } | undefined {
  const key = env['OPENAI_API_KEY'];
  if (!key || settings.base_url.origin === 'workspace') return undefined;
  return { key, base_url: settings.base_url.value };
}

async function readLayers({ home, workspace, env, flags = {} }: SettingsSources): Promise<Layer[]> {
  const { checkSettings } = await import('./settingsFile.ts');
  const given: Partial<Record<keyof FileSettings, string>> = {};
  for (const [variable, key] of Object.entries(VARIABLES)) {
    if (env[variable]) given[key] = env[variable];
  }
  const layers: Layer[] = [
    { origin: 'flag', values: checkSettings(flags, flagOf), source: flagOf },
    { origin: 'environment', values: checkSettings(given, variableOf), source: variableOf },
  ];
  const files = [
    ...(workspace === undefined ? [] : [['workspace', join(workspace, 'holdfast.json')] as const]),
    ['home', home.settingsFile] as const,
  ];
  for (const [origin, path] of files) {
    const values = await readSettingsFile(path);
    if (origin === 'workspace' && values?.http !== undefined) {
      throw new SettingsError(
        `Expected no \`http\` in ${path}, found one: a workspace can't say what may be reached over the network.`,
        `Move it to ${home.settingsFile}.`,
      );
    }
    if (values !== undefined) layers.push({ origin, values: trusted(origin, values), source: () => path });
  }
  return layers;
}

/** A workspace may be a stranger's: it may ask for more caution, but not switch the asking off. */
function trusted(origin: Origin, values: FileSettings): FileSettings {
  if (origin !== 'workspace' || values.approval !== 'auto') return values;
  const { approval: _, ...rest } = values;
  return rest;
}

function variableOf(key: string): string {
  return Object.entries(VARIABLES).find(([, name]) => name === key)?.[0] ?? key;
}

function flagOf(key: string): string {
  return `--${key.replaceAll('_', '-')}`;
}

/** As in containers without an entry for the user, there may be none. */
function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'user');
  }
}
