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
  /** Null: by the model's name. */
  context_window: Setting<number | null>;
  user: Setting<string>;
  /** Null: the command's own default, `ask` in chat and `auto` elsewhere. */
  approval: Setting<ApprovalName | null>;
  on_interrupt: Setting<OnInterruptName>;
}

/** What the command line gives, by the same names. */
export type FlagSettings = Omit<FileSettings, 'user' | 'http'>;

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
  HOLDFAST_CONTEXT_WINDOW: 'context_window',
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
  const url = pick(layers, 'base_url', OPENAI_BASE_URL);
  const name = endpointName(url.value);
  const base_url = { ...url, value: name === OPENAI_BASE_URL ? null : name };
  const model = pick(layers, 'model', DEFAULT_MODEL);
  const ofEndpoint = layers.filter(({ values }) => isSame(values.base_url, url.value));
  const ofModel = ofEndpoint.filter(({ values }) => (values.model ?? model.value) === model.value);
  return {
    model,
    api: pick(ofEndpoint, 'api', base_url.value === null ? 'responses' : 'chat'),
    base_url,
    context_window: pick(ofModel, 'context_window', null),
    user: pick(layers, 'user', loginName()),
    approval: pick(layers, 'approval', null),
    on_interrupt: pick(layers, 'on_interrupt', 'continue'),
  };
}

function pick<K extends keyof FileSettings, F>(
  layers: Layer[],
  key: K,
  fallback: F,
): Setting<NonNullable<FileSettings[K]> | F> {
  for (const { values, origin, source } of layers) {
    const value = values[key];
    if (value !== undefined) return { value, origin, source: source(key) };
  }
  return { value: fallback, origin: 'default', source: null };
}

/**
 * What a layer says of an endpoint or a model of its own (which API it speaks, how much it takes) is of no use
 * where a layer above names another.
 */
function isSame(own: string | undefined, chosen: string): boolean {
  return own === undefined || endpointName(own) === endpointName(chosen);
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
  const given = settingsOf(env);
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

/** What is set, by the settings' names, still unchecked. */
function settingsOf(env: NodeJS.ProcessEnv): Partial<Record<keyof FileSettings, string | number>> {
  const given: Partial<Record<keyof FileSettings, string | number>> = {};
  for (const [variable, key] of Object.entries(VARIABLES)) {
    const text = env[variable];
    if (text) given[key] = key === 'context_window' && /^\d+$/.test(text) ? Number(text) : text;
  }
  return given;
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
