import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RESPONSE_MAX_BYTES } from '../../../src/activities/http/exchange.ts';
import { httpRequest } from '../../../src/activities/tools/httpRequest.ts';
import type { ToolContext } from '../../../src/activities/tools/tool.ts';
import { OUTPUT_MAX_BYTES } from '../../../src/domain/limits.ts';
import { readHttpRules, type HttpRule } from '../../../src/host/httpRules.ts';
import { homeAt } from '../../../src/host/home.ts';
import { loadSettings } from '../../../src/host/settings.ts';
import { mkdir, writeFile } from 'node:fs/promises';
import { Bench } from '../runner/support.ts';
import { TestServer } from './httpServer.ts';

let bench: Bench;
let server: TestServer;
let other: TestServer;

beforeEach(async () => {
  bench = await Bench.make();
  other = await TestServer.start((_, response) => response.end('other'));
  server = await TestServer.start((asked, response) => {
    const answers: Record<string, () => void> = {
      '/json': () => response.setHeader('content-type', 'application/json').end('{"a":"ä"}'),
      '/gone': () => response.writeHead(410, { 'x-why': 'moved out' }).end('no more'),
      '/binary': () => response.setHeader('content-type', 'image/png').end(Buffer.from([137, 80, 0, 255])),
      '/gzip': () => response.setHeader('content-encoding', 'gzip').end(gzipSync('x')),
      '/latin1': () =>
        response.setHeader('content-type', 'text/plain; charset=iso-8859-1').end(Buffer.from('ä', 'latin1')),
      '/long': () => response.end('x'.repeat(100_000)),
      '/huge': () => response.end('ä'.repeat(RESPONSE_MAX_BYTES)),
      '/half': () =>
        response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy()),
      '/hangup': () => response.destroy(),
      '/silent': () => {},
      '/cookie': () => response.setHeader('set-cookie', 'session=secret').end('ok'),
      '/away': () => response.writeHead(302, { location: other.url('/x?token=secret') }).end(),
      '/here': () => response.writeHead(307, { location: '/json' }).end(),
      '/see': () => response.writeHead(303, { location: '/json' }).end(),
      '/307away': () => response.writeHead(307, { location: other.url('/x') }).end(),
      '/loop': () => response.writeHead(302, { location: '/loop' }).end(),
      '/file': () => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    };
    (answers[asked.url.split('?')[0] ?? ''] ?? (() => response.end('ok')))();
  });
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
  await bench[Symbol.asyncDispose]();
});

function contextFor(hosts: string[], changes: Partial<ToolContext> = {}): ToolContext {
  const allow: HttpRule[] = hosts.map((host) => ({ host, idempotent: false }));
  return bench.context({ httpRules: () => Promise.resolve({ allow, file: '/h/holdfast.json' }), ...changes });
}

async function ask(args: object, context = contextFor([server.host])) {
  return httpRequest.run(httpRequest.schema.parse(args), context);
}

test.each([
  ['GET', 'read'],
  ['HEAD', 'read'],
  ['OPTIONS', 'read'],
  ['PUT', 'idempotent'],
  ['DELETE', 'idempotent'],
  ['POST', 'side_effect'],
  ['PATCH', 'side_effect'],
])('%s is of effect class %s', (method, effect) => {
  expect(httpRequest.effect({ method, url: 'http://x/' })).toBe(effect);
});

test('an answer has its status, headers and body', async () => {
  const { status, output } = await ask({ method: 'GET', url: server.url('/json') });
  expect(status).toBe('success');
  expect(output).toMatch(
    /^HTTP 200 OK\nGET http:\/\/127\.0\.0\.1:\d+\/json\ncontent-type: application\/json\n[^]*\n\n\{"a":"ä"\}$/,
  );
  expect(server.asked[0]?.headers['idempotency-key']).toBeUndefined();
});

test('a request with an effect carries its own key, and its body as it was given', async () => {
  const context = contextFor([server.host]);
  const headers = { 'Content-Type': 'text/plain', 'X-Mine': '1' };
  await ask({ method: 'POST', url: server.url('/x?a=1'), headers, body: 'ä\n' }, context);
  expect(server.asked).toMatchObject([
    {
      method: 'POST',
      url: '/x?a=1',
      body: 'ä\n',
      headers: {
        'idempotency-key': context.operation.operation_id,
        'content-type': 'text/plain',
        'x-mine': '1',
      },
    },
  ]);
});

test('an answer of 400 or more is a failed call with all that it says', async () => {
  expect(await ask({ method: 'DELETE', url: server.url('/gone') })).toMatchObject({
    status: 'failed',
    output: expect.stringMatching(/^HTTP 410 Gone\n[^]*x-why: moved out\n[^]*\n\nno more$/),
  });
});

test('a host that is not allowed is not asked, and the result says who can allow it', async () => {
  const { status, output } = await ask({ method: 'GET', url: server.url('/') }, contextFor([]));
  expect(status).toBe('failed');
  expect(output).toBe(
    `Nothing was sent: ${server.host} is not allowed. Only the user can allow it, in /h/holdfast.json: {"http":{"allow":[{"host":"${server.host}"}]}}. Allowed now: nothing.`,
  );
  expect(server.asked).toEqual([]);
});

test.each([
  ['another port', '127.0.0.1:1'],
  ['no port', '127.0.0.1'],
  ['another name', `localhost`],
])('a rule for %s does not open the door', async (_, host) => {
  expect(await ask({ method: 'GET', url: server.url('/') }, contextFor([host]))).toMatchObject({
    output: expect.stringMatching(/is not allowed/),
  });
});

test('the rules are those of the home, as they are at the moment; a workspace that has some is refused', async () => {
  const home = homeAt(bench.path('home'));
  await mkdir(home.root);
  expect(await readHttpRules(home)).toEqual({ allow: [], file: home.settingsFile });
  const rules = { http: { allow: [{ host: 'API.example.com', idempotent: true }, { host: '[::1]:80' }] } };
  await writeFile(home.settingsFile, JSON.stringify(rules));
  expect((await readHttpRules(home)).allow).toEqual([
    { host: 'API.example.com', idempotent: true },
    { host: '[::1]:80', idempotent: false },
  ]);
  await writeFile(bench.path('holdfast.json'), JSON.stringify(rules));
  await expect(loadSettings({ home, workspace: bench.root, env: {} })).rejects.toThrow(
    /no `http` in .*holdfast\.json, found one/,
  );
});

test.each(['https://x', 'x/y', '*.example.com', 'user@x', ''])('%j is no host', async (host) => {
  const home = homeAt(bench.root);
  await writeFile(home.settingsFile, JSON.stringify({ http: { allow: [{ host }] } }));
  await expect(readHttpRules(home)).rejects.toThrow(/Expected a host, as in example\.com/);
  const outcome = await ask(
    { method: 'GET', url: server.url('/') },
    bench.context({ httpRules: () => readHttpRules(home) }),
  );
  expect(outcome).toMatchObject({
    status: 'failed',
    output: expect.stringMatching(/which hosts are allowed can't be read\. Expected a host/),
  });
});

test.each([
  ['credentials in the URL', { method: 'GET', url: 'http://u:p@x/' }, /without a user name/],
  ['another protocol', { method: 'GET', url: 'file:///etc/passwd' }, /http or https/],
  ['a body with GET', { method: 'GET', url: 'http://x/', body: 'x' }, /have no body/],
  [
    'a key of its own',
    { method: 'POST', url: 'http://x/', headers: { 'Idempotency-Key': 'x' } },
    /set by the tool itself/,
  ],
  [
    'another host in a header',
    { method: 'GET', url: 'http://x/', headers: { HOST: 'y' } },
    /set by the tool itself/,
  ],
  [
    'a header that ends the headers',
    { method: 'GET', url: 'http://x/', headers: { a: 'b\r\n\r\nc' } },
    /that HTTP allows/,
  ],
])('%s is refused', (_, args, words) => {
  expect(httpRequest.schema.safeParse(args).error?.issues[0]?.message).toMatch(words);
});

test('nothing is taken from the environment: no proxy, no credentials', async () => {
  vi.stubEnv('HTTP_PROXY', other.url('/'));
  vi.stubEnv('http_proxy', other.url('/'));
  vi.stubEnv('NODE_USE_ENV_PROXY', '1');
  await ask({ method: 'GET', url: server.url('/') });
  expect(other.asked).toEqual([]);
  expect(Object.keys(server.asked[0]?.headers ?? {}).toSorted()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ]);
});

test('cookies and queries are not shown', async () => {
  const { output } = await ask({ method: 'GET', url: server.url('/cookie?key=secret') });
  expect(output).toMatch(/set-cookie: \(not kept\)/);
  expect(output).not.toMatch(/secret/);
  expect(httpRequest.target({ method: 'GET', url: 'http://x/y?key=secret' })).toBe('GET http://x/y?…');
});

test('what is no text is described, and kept', async () => {
  const image = await ask({ method: 'GET', url: server.url('/binary') });
  expect(image.output).toMatch(
    /\n\n\[the body is no text that can be shown: image\/png, 4 bytes, sha256 [0-9a-f]{64}\]$/,
  );
  expect(image.blob?.bytes).toBe(4);
  expect((await ask({ method: 'GET', url: server.url('/gzip') })).output).toMatch(/content-encoding gzip/);
  expect((await ask({ method: 'GET', url: server.url('/latin1') })).output).toMatch(/\n\nä$/);
});

test('a long body is shown as head and tail, a huge one is not read to its end', async () => {
  const long = await ask({ method: 'GET', url: server.url('/long') });
  expect(long.blob?.bytes).toBe(100_000);
  expect(Buffer.byteLength(long.output)).toBeLessThanOrEqual(OUTPUT_MAX_BYTES);
  const huge = await ask({ method: 'GET', url: server.url('/huge') });
  expect(huge.output).toContain(
    `[the body is not whole: only the first ${RESPONSE_MAX_BYTES} bytes were read]`,
  );
  expect(huge.output).toMatch(/ä are cut here|cut here/);
});

test('an answer whose body breaks off is an answer', async () => {
  const { status, output } = await ask({ method: 'POST', url: server.url('/half') });
  expect(status).toBe('success');
  expect(output).toMatch(/^HTTP 200 OK[^]*\[the body is not whole: it broke off \(.*\)\]\n\nhalf$/);
});

test('where nobody listens nothing was sent, and the result says so', async () => {
  expect(await ask({ method: 'POST', url: 'http://127.0.0.1:1/' }, contextFor(['127.0.0.1:1']))).toEqual({
    status: 'failed',
    output: expect.stringMatching(/^Nothing was sent to http:\/\/127\.0\.0\.1:1\/: .*ECONNREFUSED.*\.$/),
  });
});

test('a connection that ends without an answer leaves the effect unknown, and the result says so', async () => {
  expect(await ask({ method: 'POST', url: server.url('/hangup') })).toEqual({
    status: 'failed',
    output: expect.stringMatching(
      /^POST .*\/hangup was sent at 20.*Z, and no answer came: socket hang up\. Whether the service acted on it is not known: find out before you send it again\.$/,
    ),
  });
  expect((await ask({ method: 'GET', url: server.url('/hangup') })).output).toMatch(/socket hang up\.$/);
});

test('an interrupt ends the wait and says what is known', async () => {
  const interrupt = new AbortController();
  const running = ask(
    { method: 'POST', url: server.url('/silent') },
    contextFor([server.host], { signal: interrupt.signal }),
  );
  await expect.poll(() => server.asked.length, { interval: 5, timeout: 30_000 }).toBe(1);
  interrupt.abort();
  expect(await running).toEqual({
    status: 'cancelled',
    output: expect.stringMatching(
      /was sent at .*, and no answer came: the run was interrupted\. Whether the service acted on it is not known/,
    ),
  });
});

test('an interrupt that comes first sends nothing', async () => {
  const outcome = await ask(
    { method: 'POST', url: server.url('/') },
    contextFor([server.host], { signal: AbortSignal.abort() }),
  );
  expect(outcome).toEqual({
    status: 'cancelled',
    output: 'Nothing was sent: the run was interrupted first.',
  });
  expect(server.asked).toEqual([]);
});

test('a redirect at the same host is followed with method, headers and body; after 303 as GET without', async () => {
  const headers = { authorization: 'secret', 'content-type': 'text/plain' };
  const kept = await ask({ method: 'POST', url: server.url('/here'), headers, body: 'x' });
  expect(kept.output).toMatch(/^HTTP 200 OK\nPOST .*\/json\n\[redirected: POST .*\/here answered 307\]/);
  expect(server.asked[1]).toMatchObject({
    method: 'POST',
    body: 'x',
    headers: { authorization: 'secret', 'idempotency-key': expect.any(String) },
  });
  await ask({ method: 'POST', url: server.url('/see'), headers, body: 'x' });
  expect(server.asked[3]).toMatchObject({ method: 'GET', body: '', headers: { authorization: 'secret' } });
  expect(server.asked[3]?.headers).not.toHaveProperty('idempotency-key');
  expect(server.asked[3]?.headers).not.toHaveProperty('content-type');
});

test('a redirect to another host is followed only where that is allowed, and without what says who asks', async () => {
  const args = {
    method: 'GET',
    url: server.url('/away'),
    headers: { authorization: 'secret', 'x-key': 'secret' },
  };
  const refused = await ask(args);
  expect(refused.output).toContain(
    `[the redirect was not followed: it leads to ${other.host}, which is not allowed]`,
  );
  expect(other.asked).toEqual([]);
  expect(await ask(args, contextFor([server.host, other.host]))).toMatchObject({
    output: expect.stringMatching(/\n\nother$/),
  });
  expect(JSON.stringify(other.asked[0]?.headers)).not.toMatch(/secret/);
});

test('an effect is never led to another host, even an allowed one', async () => {
  const outcome = await ask(
    { method: 'PUT', url: server.url('/307away'), body: 'x' },
    contextFor([server.host, other.host]),
  );
  expect(outcome.output).toMatch(
    /^HTTP 307[^]*\[the redirect was not followed: it leads to 127.*, and a PUT goes to no other host than the first\]/,
  );
  expect(other.asked).toEqual([]);
});

test('redirects in a circle and to other protocols end', async () => {
  expect((await ask({ method: 'GET', url: server.url('/loop') })).output).toMatch(
    /not followed: more than 5 redirects in a row/,
  );
  expect(server.asked).toHaveLength(6);
  expect((await ask({ method: 'GET', url: server.url('/file') })).output).toMatch(
    /not followed: it leads to a file: address/,
  );
});
