import { expect, test } from 'vitest';
import { changedSettings, type SettingsChange } from '../../src/domain/settings.ts';
import { SETTINGS } from './support/events.ts';

const SMALL = { ...SETTINGS, model: 'local', base_url: 'http://127.0.0.1:1/v1', context_window: 8_192 };

test.each<[string, SettingsChange, number | undefined]>([
  ['stays with the model', { approval: 'ask' }, 8_192],
  ['stays when the same model is named again', { model: 'local' }, 8_192],
  ['goes with the model', { model: 'other' }, undefined],
  ['goes when the model is served elsewhere', { base_url: null }, undefined],
  ['is replaced', { context_window: 16_384 }, 16_384],
  ['comes with another model', { model: 'other', context_window: 16_384 }, 16_384],
  ['is unset by null', { context_window: null }, undefined],
])('a window that was set %s', (_, change, expected) => {
  const next = changedSettings(SMALL, change);
  expect(next.context_window).toBe(expected);
  expect('context_window' in next).toBe(expected !== undefined);
});

test('what a change does not name stays, in the same order: old logs must fold to the same bytes', () => {
  expect(JSON.stringify(changedSettings(SETTINGS, { approval: 'read-only' }))).toBe(
    JSON.stringify({ ...SETTINGS, approval: 'read-only' }),
  );
});
