/** From flags, environment and files to what a session keeps. */
import type { SessionSettings } from '../domain/event.ts';
import { storeKey } from '../host/credentials.ts';
import {
  keyOfEnvironment,
  loadSettings,
  type ApprovalName,
  type FlagSettings,
  type OnInterruptName,
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
    approval: settings.approval.value ?? approval,
    on_interrupt: settings.on_interrupt.value,
  };
}

/** What the flags alone change of a session that exists; undefined when they change nothing. */
export function changesByFlags(options: Options): Partial<SessionSettings> | undefined {
  const flags = flagsOf(options);
  return Object.keys(flags).length === 0 ? undefined : (flags as Partial<SessionSettings>);
}

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
  if (await storeKey(home, found.base_url, found.key)) {
    screen.note(
      `The API key was stored in ${home.credentialsFile} (only you can read it), so that sessions go on after a reboot. HOLDFAST_STORE_KEY=no prevents that.`,
    );
  }
}

function flagsOf(options: Options): FlagSettings {
  const { model, approval, onInterrupt } = options;
  return {
    ...(model === undefined ? {} : { model: model as string }),
    ...(approval === undefined ? {} : { approval: approval as ApprovalName }),
    ...(onInterrupt === undefined ? {} : { on_interrupt: onInterrupt as OnInterruptName }),
  };
}
