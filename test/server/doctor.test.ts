import { chmod } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { homeAt } from '../../src/host/home.ts';
import { checkModelEndpoint, runDoctor, type Check } from '../../src/server/doctor.ts';
import { ensureUp } from '../../src/server/installation.ts';
import { cleanUp, tempFolder, tempHome } from './support.ts';

afterEach(cleanUp);

const byName = (checks: Check[]): Record<string, Check> =>
  Object.fromEntries(checks.map((check) => [check.name, check]));

test('of an installation that runs every check is good', async () => {
  const home = await tempHome();
  await ensureUp(home, { withWorker: false });
  const checks = await runDoctor(home);
  expect(checks.map(({ name }) => name)).toEqual([
    'node',
    'binary',
    'home',
    'socket path',
    'disk space',
    'journal',
    'server',
    'namespace retention',
    'search attributes',
  ]);
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
});

test('each thing that is wrong comes with its remedy, and nothing is started', async () => {
  const folder = await tempFolder();
  const home = homeAt(join(folder, 'x'.repeat(100)));
  const env = { HOME: folder, PATH: folder };
  const checks = byName(await runDoctor(home, { env }));
  expect(checks['binary']).toMatchObject({ ok: false, remedy: expect.stringContaining('holdfast up') });
  expect(checks['socket path']).toMatchObject({
    ok: false,
    remedy: expect.stringContaining('HOLDFAST_HOME'),
  });
  expect(checks['server']).toMatchObject({ ok: false, found: 'not running', remedy: 'Run `holdfast up`.' });
  expect(checks['home']).toMatchObject({ ok: true, found: expect.stringContaining('not there yet') });
});

test('a home that others can enter is found', async () => {
  const home = await tempHome();
  await chmod(home.root, 0o755);
  const { home: check } = byName(await runDoctor(home));
  expect(check).toMatchObject({
    ok: false,
    found: expect.stringContaining('0755'),
    remedy: `chmod 700 ${home.root}`,
  });
});

test('the model endpoint is asked for its models with the key', async () => {
  const server = createServer((request, response) => {
    response.statusCode =
      request.headers.authorization === 'Bearer good' && request.url === '/v1/models' ? 200 : 401;
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  try {
    expect(await checkModelEndpoint(base, 'good')).toMatchObject({ ok: true });
    expect(await checkModelEndpoint(`${base}/`, 'bad')).toMatchObject({
      ok: false,
      found: `GET ${base}/models: HTTP 401`,
      remedy: expect.stringContaining('OPENAI_API_KEY'),
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  expect(await checkModelEndpoint(base, 'good')).toMatchObject({
    ok: false,
    found: expect.stringContaining(`GET ${base}/models: fetch failed`),
    remedy: expect.stringContaining('OPENAI_BASE_URL'),
  });
});
