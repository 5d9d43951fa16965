/** What changes when a session's settings are changed in the middle of it. */
import type { SessionSettings } from './event.ts';

/** What a change says; null for `context_window`: by the model's name again. */
export type SettingsChange = Partial<Omit<SessionSettings, 'context_window'>> & {
  context_window?: number | null;
};

/**
 * The settings after `change`. A window that was set belongs to its model where that is served: when either
 * changes and the change brings no window, it goes.
 */
export function changedSettings(settings: SessionSettings, change: SettingsChange): SessionSettings {
  const { context_window: given, ...rest } = change;
  const { context_window: known, ...kept } = settings;
  const next = { ...kept, ...rest };
  const stays = next.model === settings.model && next.base_url === settings.base_url;
  const context_window = given === undefined && stays ? known : (given ?? undefined);
  return context_window === undefined ? next : { ...next, context_window };
}
