import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MESSAGE_MAX_BYTES } from '../../src/domain/limits.ts';
import { cleanEnvironment, runHoldfast, type Ended } from '../support/holdfast.ts';

/** Nothing here may start a server: the home must stay as empty as it was. */
let folder: string;
let holdfast: (args: string[], input?: string) => Promise<Ended>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hf-'));
  const env = cleanEnvironment({
    HOLDFAST_HOME: join(folder, 'home'),
    HOLDFAST_TEMPORAL_CLI: '/nonexistent',
  });
  holdfast = async (args, input = '') => runHoldfast(args, { env, cwd: folder, input });
});
afterAll(async () => rm(folder, { recursive: true }));

test('the version and the help come without an error', async () => {
  expect(await holdfast(['--version'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+$/),
  });
  const help = await holdfast(['--help']);
  expect(help).toMatchObject({ code: 0, stderr: '' });
  for (const command of [
    'run',
    'resume',
    'send',
    'wait',
    'sessions',
    'show',
    'events',
    'context',
    'completion',
  ]) {
    expect(help.stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'));
  }
  expect(await holdfast(['run', '--help'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Exit codes'),
  });
});

test.each([
  [
    'an unknown command',
    ['frobnicate'],
    /Expected a command or a prompt of several words, found "frobnicate"/,
  ],
  ['a misspelt command', ['sesions'], /Did you mean sessions\?/],
  ['a command of a later version', ['batch', 'run', 'x'], /found "batch"/],
  ['an unknown option', ['run', '--frob', 'x'], /unknown option '--frob'/],
  ['an option without its value', ['run', 'x', '--model'], /option '--model <name>' argument missing/],
  [
    'a value that is not one of those',
    ['run', 'x', '--approval', 'maybe'],
    /Allowed choices are auto, ask, read-only/,
  ],
  ['a number that is none', ['events', 'abc', '--from', 'x'], /Expected a whole number/],
  ['a time-out that is none', ['run', 'x', '--timeout', '0'], /Expected seconds, more than 0/],
  [
    'an address that is none',
    ['run', 'x', '--base-url', 'localhost:80'],
    /Expected an http or https address for --base-url, found "localhost:80"/,
  ],
  ['a protocol that is none', ['run', 'x', '--api', 'soap'], /Allowed choices are responses, chat/],
  [
    'a window that is too small',
    ['resume', 'x', '--context-window', '12'],
    /Expected a whole number of tokens, at least 4096, for --context-window, found 12/,
  ],
  ['a window that is no number', ['run', 'x', '--context-window', 'big'], /Expected a whole number/],
  ['a missing argument', ['show'], /missing required argument 'id'/],
  ['an argument too many', ['show', 'a', 'b'], /too many arguments/],
  ['no prompt', ['run'], /Expected a message, found nothing/],
  ['a blank prompt', ['run', ' \n '], /Expected a message, found nothing/],
  ['nothing on stdin', ['run', '-'], /Expected a message, found nothing/],
  ['an unknown shell', ['completion', 'tcsh'], /Expected bash, zsh or fish, found "tcsh"/],
])('%s exits 2 and says what was expected, found, and is to be done', async (_name, args, message) => {
  const { code, stdout, stderr } = await holdfast(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr.split('\n')).toHaveLength(2);
  expect(stderr).not.toMatch(/ at .*:\d+:\d+/);
});

test('with --json an error is one JSON document on stdout', async () => {
  const { code, stdout, stderr } = await holdfast(['show', '--json']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    error: {
      code: 'usage',
      message: expect.stringContaining('missing required argument'),
      remedy: expect.any(String),
    },
  });
});

test('a message that is too large is refused before anything is made', async () => {
  const { code, stderr } = await holdfast(['run', '-'], 'x'.repeat(MESSAGE_MAX_BYTES + 1));
  expect(code).toBe(2);
  expect(stderr).toContain(
    `Expected a message of at most ${MESSAGE_MAX_BYTES} bytes, found ${MESSAGE_MAX_BYTES + 1}`,
  );
});

test('3 MB on stdin are refused as well', async () => {
  const { code, stderr } = await holdfast(['send', 'abcdefabcdef', '-'], 'x'.repeat(3_000_000));
  expect(code).toBe(2);
  expect(stderr).toContain('Expected a message of at most');
});

test('a workspace that is not there exits 5', async () => {
  const { code, stderr } = await holdfast(['run', 'do it', '--workspace', 'gone']);
  expect(code).toBe(5);
  expect(stderr).toContain(`Expected a folder to work in at ${join(folder, 'gone')}, found nothing.`);
});

test('without a server to start, the exit code is 4 and each try is named', async () => {
  const { code, stdout } = await runHoldfast(['sessions', '--json'], {
    cwd: folder,
    env: {
      PATH: '/usr/bin:/bin',
      HOLDFAST_HOME: join(folder, 'home'),
      HOLDFAST_TEMPORAL_CLI: '/nonexistent',
    },
  });
  expect(code).toBe(4);
  expect(JSON.parse(stdout).error).toMatchObject({
    code: 'service.not_started',
    message: expect.stringContaining('/nonexistent'),
  });
});

test('an existing service that does not answer exits 4 as well', async () => {
  const env = cleanEnvironment({ HOLDFAST_HOME: join(folder, 'home'), TEMPORAL_ADDRESS: '127.0.0.1:9' });
  const { code, stderr } = await runHoldfast(['sessions'], { cwd: folder, env });
  expect(code).toBe(4);
  expect(stderr).toContain('Expected a Temporal service at 127.0.0.1:9, found nothing that answers.');
}, 40_000);

test('HOLDFAST_DEBUG=1 shows where an error came from', async () => {
  const env = cleanEnvironment({ HOLDFAST_HOME: join(folder, 'home'), HOLDFAST_DEBUG: '1' });
  const { stderr } = await runHoldfast(['run', ' '], { cwd: folder, env });
  expect(stderr).toMatch(/at .*message\.ts:\d+/);
});

test('a wrong setting is refused by name', async () => {
  const env = cleanEnvironment({ HOLDFAST_HOME: join(folder, 'home'), HOLDFAST_API: 'soap' });
  const { code, stderr } = await runHoldfast(['run', 'do it'], { cwd: folder, env });
  expect(code).toBe(2);
  expect(stderr).toContain('Expected responses or chat for HOLDFAST_API, found "soap"');
});

test('config shows each value with its origin and no secret', async () => {
  const env = cleanEnvironment({
    HOLDFAST_HOME: join(folder, 'home'),
    OPENAI_API_KEY: 'sk-very-secret-1234',
    HOLDFAST_MODEL: 'm',
  });
  const { code, stdout } = await runHoldfast(['config', '--json'], { cwd: folder, env });
  expect(code).toBe(0);
  expect(stdout).not.toContain('very-secret');
  expect(JSON.parse(stdout)).toMatchObject({
    model: { value: 'm', origin: 'environment', source: 'HOLDFAST_MODEL' },
    api: { value: 'responses', origin: 'default' },
    base_url: { value: 'https://api.openai.com/v1', origin: 'default' },
    context_window: { value: 128_000, origin: 'default', source: null },
    api_key: { value: '****1234', origin: 'environment', source: 'OPENAI_API_KEY' },
  });
});

test('status says that nothing runs, with exit code 4', async () => {
  const { code, stdout } = await holdfast(['status', '--json']);
  expect(code).toBe(4);
  expect(JSON.parse(stdout)).toEqual({
    home: join(folder, 'home'),
    supervisor: null,
    server: null,
    worker: null,
  });
});

test('completion names every command, and asks for ids without starting anything', async () => {
  const { code, stdout } = await holdfast(['completion', 'bash']);
  expect(code).toBe(0);
  expect(stdout).toContain('holdfast complete-ids');
  expect(stdout).toMatch(/resume\|send\|wait\|show\|events/);
  expect(await holdfast(['complete-ids'])).toEqual({ code: 0, stdout: '', stderr: '' });
});
