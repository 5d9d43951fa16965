/** From flags, environment and files to what a session keeps. */
import type { SessionSettings } from '../domain/event.ts';
import type { SettingsChange } from '../domain/settings.ts';
import { endpointName, keyFor, storeKey } from '../host/credentials.ts';
import {
  keyOfEnvironment,
  loadSettings,
  type ApprovalName,
  type FlagSettings,
  type Settings,
} from '../host/settings.ts';
import type { Context, Options } from './context.ts';

/** The settings of this command in `workspace`. */
export async function settingsFor(
  { home, env }: Context,
  options: Options,
  workspace?: string,
): Promise<Settings> {
  return loadSettings({ home, env, workspace, flags: flagsOf(options) });
}

/** What a new session is made with; `approval` where nobody says otherwise. */
export function sessionSettings(settings: Settings, approval: ApprovalName): SessionSettings {
  return {
    model: settings.model.value,
    api: settings.api.value,
    base_url: settings.base_url.value,
    ...(settings.context_window.value === null ? {} : { context_window: settings.context_window.value }),
    approval: settings.approval.value ?? approval,
    on_interrupt: settings.on_interrupt.value,
  };
}

/**
 * What the flags alone change of a session that exists; undefined when they change nothing. Another service
 * brings its API along, given or not; that another model drops the window is the session's own rule.
 */
export function changesByFlags(settings: Settings): SettingsChange | undefined {
  const given = CHANGEABLE.filter((key) => settings[key].origin === 'flag');
  const keys = given.includes('base_url') ? [...given, 'api' as const] : given;
  if (keys.length === 0) return undefined;
  return Object.fromEntries(keys.map((key) => [key, settings[key].value])) as SettingsChange;
}

const CHANGEABLE = ['model', 'base_url', 'api', 'context_window', 'approval', 'on_interrupt'] as const;

/**
 * Keeps the key of this environment for the worker, which may have to go on when no shell that has it is
 * there. Says so when it does. HOLDFAST_STORE_KEY=no: never.
 */
export async function keepKey({ home, env, screen }: Context, settings: Settings): Promise<void> {
  if (env['HOLDFAST_STORE_KEY'] === 'no') return;
  const found = keyOfEnvironment(settings, env);
  if (found === undefined) {
    if (env['OPENAI_API_KEY'] && settings.base_url.origin === 'workspace') {
      screen.note(
        `OPENAI_API_KEY is not given to ${settings.base_url.value}: ${settings.base_url.source} names it, not you. Set OPENAI_BASE_URL to send it there.`,
      );
    }
    return;
  }
  if (await isAnothers(home, env, settings, found)) {
    screen.note(
      `The key that is stored for ${endpointName(found.base_url)} stays: OPENAI_API_KEY is another. Set OPENAI_BASE_URL as well to replace it.`,
    );
    return;
  }
  if (await storeKey(home, found.base_url, found.key)) {
    screen.note(
      `The API key was stored in ${home.credentialsFile} (only you can read it), so that sessions go on after a reboot. HOLDFAST_STORE_KEY=no prevents that.`,
    );
  }
}

/**
 * Whoever goes over to another service for a while by `--base-url` has the usual key in the environment: it
 * must not take the place of the one that is stored for that service.
 */
async function isAnothers(
  home: Context['home'],
  env: Context['env'],
  settings: Settings,
  { key, base_url }: { key: string; base_url: string | null },
): Promise<boolean> {
  if (settings.base_url.origin !== 'flag') return false;
  if (endpointName(env['OPENAI_BASE_URL'] ?? null) === endpointName(base_url)) return false;
  const stored = await keyFor(home, base_url, {});
  return stored !== undefined && stored !== key;
}

function flagsOf(options: Options): FlagSettings {
  const { model, baseUrl, api, contextWindow, approval, onInterrupt } = options;
  const given = {
    model,
    base_url: baseUrl,
    api,
    context_window: contextWindow,
    approval,
    on_interrupt: onInterrupt,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
