import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { homeAt, type Home } from '../../src/host/home.ts';
import { keyOfEnvironment, loadSettings } from '../../src/host/settings.ts';

let root: string;
let home: Home;
let workspace: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hf-'));
  home = homeAt(join(root, 'home'));
  workspace = join(root, 'ws');
  await mkdir(home.root);
  await mkdir(workspace);
});
afterEach(async () => rm(root, { recursive: true }));

const write = async (folder: string, content: unknown): Promise<void> =>
  writeFile(join(folder, 'holdfast.json'), typeof content === 'string' ? content : JSON.stringify(content));

test('flags win over the environment, that over the workspace, that over the home, and each says so', async () => {
  await write(home.root, { model: 'home', user: 'home', on_interrupt: 'wait', api: 'chat' });
  await write(workspace, { model: 'workspace', user: 'workspace', on_interrupt: 'continue' });
  const settings = await loadSettings({
    home,
    workspace,
    env: { HOLDFAST_MODEL: 'environment', HOLDFAST_USER: 'environment' },
    flags: { model: 'flag' },
  });
  expect(settings.model).toEqual({ value: 'flag', origin: 'flag', source: '--model' });
  expect(settings.user).toEqual({ value: 'environment', origin: 'environment', source: 'HOLDFAST_USER' });
  expect(settings.on_interrupt).toEqual({
    value: 'continue',
    origin: 'workspace',
    source: join(workspace, 'holdfast.json'),
  });
  expect(settings.api).toMatchObject({ value: 'chat', origin: 'home', source: home.settingsFile });
  expect(settings.approval).toMatchObject({ value: null, origin: 'default' });
});

test.each([
  ['nothing', {}, null, 'responses'],
  ['the address of OpenAI', { OPENAI_BASE_URL: 'https://api.openai.com/v1/' }, null, 'responses'],
  ['another address', { OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1/' }, 'http://127.0.0.1:8000/v1', 'chat'],
  ['an empty address', { OPENAI_BASE_URL: '' }, null, 'responses'],
  [
    'another address with the API that it speaks',
    { OPENAI_BASE_URL: 'http://127.0.0.1:8000/v1', HOLDFAST_API: 'responses' },
    'http://127.0.0.1:8000/v1',
    'responses',
  ],
])('the protocol follows from the address: %s', async (_name, env, base_url, api) => {
  const settings = await loadSettings({ home, env });
  expect([settings.base_url.value, settings.api.value]).toEqual([base_url, api]);
});

test.each([
  [
    'a wrong value',
    { approval: 'maybe' },
    /auto or ask or read-only for `approval` in .*holdfast\.json, found "maybe"/,
  ],
  ['a wrong type', { model: 3 }, /type string for `model` in .*, found 3/],
  ['an unknown key', { modell: 'x' }, /one of model, api, .* found `modell` in .*holdfast\.json/],
  ['a key', { api_key: 'sk-1' }, /found `api_key`/],
  ['an address that is none', { base_url: 'localhost:80' }, /http or https address for `base_url`/],
  [
    'a window that is a text',
    { context_window: '8192' },
    /whole number of tokens, at least 4096, for `context_window` in .*, found "8192"/,
  ],
  [
    'a window that is too small',
    { context_window: 4095 },
    /at least 4096, for `context_window` in .*, found 4095/,
  ],
  ['half a token', { context_window: 5000.5 }, /whole number of tokens, .* found 5000.5/],
  ['a list', [], /type object for .*holdfast\.json/],
  ['no JSON', '{', /Expected JSON in .*holdfast\.json/],
])('%s in a file is refused by name', async (_name, content, message) => {
  await write(workspace, content);
  await expect(loadSettings({ home, workspace, env: {} })).rejects.toThrow(message);
});

test('a wrong value in the environment is refused by the name of its variable', async () => {
  await expect(loadSettings({ home, env: { HOLDFAST_API: 'soap' } })).rejects.toThrow(
    /responses or chat for HOLDFAST_API, found "soap"/,
  );
});

test.each(['lots', '12', '-1', '1e5'])('a window of %s in the environment is refused', async (text) => {
  await expect(loadSettings({ home, env: { HOLDFAST_CONTEXT_WINDOW: text } })).rejects.toThrow(
    /whole number of tokens, at least 4096, for HOLDFAST_CONTEXT_WINDOW, found/,
  );
});

test.each([
  ['no one', {}, null],
  ['the environment', { HOLDFAST_CONTEXT_WINDOW: '32768' }, 32_768],
  ['the file, of its own model', { HOLDFAST_MODEL: 'local' }, 8_192],
  ['the file, of another model', { HOLDFAST_MODEL: 'other' }, null],
  ['the file, of a model elsewhere', { OPENAI_BASE_URL: 'http://127.0.0.1:2/v1' }, null],
])('the window is what is said of the model that is used: by %s', async (name, env, expected) => {
  if (name !== 'no one') {
    await write(home.root, { model: 'local', base_url: 'http://127.0.0.1:1/v1', context_window: 8_192 });
  }
  expect((await loadSettings({ home, env })).context_window.value).toBe(expected);
});

test('a window without a model is of any, and a flag wins', async () => {
  await write(home.root, { context_window: 8_192 });
  const env = { HOLDFAST_MODEL: 'other' };
  expect((await loadSettings({ home, env })).context_window.value).toBe(8_192);
  const flags = { context_window: 9_000 };
  expect((await loadSettings({ home, env, flags })).context_window).toEqual({
    value: 9_000,
    origin: 'flag',
    source: '--context-window',
  });
});

test('another address brings its own protocol, whatever was said of the address before', async () => {
  const env = { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1', HOLDFAST_API: 'responses' };
  const flags = { base_url: 'http://127.0.0.1:2/v1/' };
  const settings = await loadSettings({ home, env, flags });
  expect(settings.base_url).toEqual({ value: 'http://127.0.0.1:2/v1', origin: 'flag', source: '--base-url' });
  expect(settings.api.value).toBe('chat');
  const chosen = await loadSettings({ home, env, flags: { ...flags, api: 'responses' } });
  expect(chosen.api).toEqual({ value: 'responses', origin: 'flag', source: '--api' });
});

test('the key goes to the endpoint that the user names, and to none that only a workspace names', async () => {
  const env = { OPENAI_API_KEY: 'sk-1' };
  expect(keyOfEnvironment(await loadSettings({ home, workspace, env }), env)).toEqual({
    key: 'sk-1',
    base_url: null,
  });
  await write(workspace, { base_url: 'http://evil.example/v1' });
  expect(keyOfEnvironment(await loadSettings({ home, workspace, env }), env)).toBeUndefined();
});
