/** The truth table of http_request: each row, and each moment at which a worker is killed. */
import { readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { httpRequest } from '../../../src/activities/tools/httpRequest.ts';
import type { ToolContext } from '../../../src/activities/tools/tool.ts';
import { Bench } from '../runner/support.ts';
import { CallProcess, killedAt } from './callProcess.ts';
import { TestServer } from './httpServer.ts';

let bench: Bench;
let server: TestServer;
let operation_id: string;
/** Of requests that are not answered by themselves. */
let held: ServerResponse[];

beforeEach(async () => {
  bench = await Bench.make();
  operation_id = bench.newOperation();
  held = [];
  server = await TestServer.start((asked, response) => {
    if (asked.url.startsWith('/held')) held.push(response);
    else if (asked.url === '/see') response.writeHead(303, { location: '/held' }).end();
    else response.writeHead(201, { location: '/things/1', date: 'today' }).end('made');
  });
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await bench[Symbol.asyncDispose]();
});

interface Args {
  method: string;
  url: string;
  body?: string;
}

function argsFor(path: string, method = 'POST'): Args {
  return { method, url: server.url(path), body: 'secret body' };
}

function rulesFor(idempotent = false) {
  return [{ host: server.host, idempotent }];
}

function call(args: Args) {
  return { operation_id, tool: 'http_request', args, changes: { rules: rulesFor() } };
}

function contextFor(attempt = 1, idempotent = false): ToolContext {
  const httpRules = () => Promise.resolve({ allow: rulesFor(idempotent), file: '/h/holdfast.json' });
  return bench.context({ attempt, httpRules }, operation_id);
}

/** Killed while the service has the request and has not answered. */
async function killedWhileHeld(args: Args): Promise<void> {
  using worker = await CallProcess.start(bench, call(args));
  await expect.poll(() => held.length, { interval: 5, timeout: 30_000 }).toBe(1);
  worker.kill('SIGKILL');
  await worker.ended();
}

test.each([
  ['before_intent', /^Nothing was sent: it had not been begun, and the way to send it is shut now\.$/],
  ['after_intent', /^Nothing was sent: it had not been begun/],
  [
    'after_gate',
    /^Nothing was sent: it had been begun, but not a byte had left, and the way to send it is shut now\.$/,
  ],
] as const)(
  'a worker that was killed %s has sent nothing, and the next attempt sends it',
  async (at, evidence) => {
    const args = argsFor('/things');
    await killedAt(bench, at, call(args));
    expect(await httpRequest.reconcile(args, contextFor())).toEqual({
      status: 'not_run',
      evidence: expect.stringMatching(evidence),
    });
    expect(server.asked).toEqual([]);
    expect(await httpRequest.run(args, contextFor(2))).toMatchObject({ status: 'success' });
    expect(server.asked).toMatchObject([
      { headers: { 'idempotency-key': operation_id }, body: 'secret body' },
    ]);
  },
);

test('a worker that was killed after the answer: it is reported as it came, and not asked for again', async () => {
  const args = argsFor('/things');
  await killedAt(bench, 'before_report', call(args));
  const undisturbed = `HTTP 201 Created\nPOST ${server.url('/things')}\nlocation: /things/1\ndate: today\nconnection: close\ntransfer-encoding: chunked\n\nmade`;
  expect(await httpRequest.reconcile(args, contextFor())).toEqual({
    status: 'completed',
    evidence: `The receipt of POST ${server.url('/things')} is here: what came of it is known.`,
    outcome: { status: 'success', output: undisturbed },
  });
  expect(server.asked).toHaveLength(1);
});

test('sent and not answered is unknown, with when, to whom and what', async () => {
  const args = argsFor('/held?token=secret');
  await killedWhileHeld(args);
  const found = await httpRequest.reconcile(args, contextFor());
  expect(found).toEqual({
    status: 'unknown',
    evidence: expect.stringMatching(
      new RegExp(
        `^POST ${server.url('/held')}\\?… was sent with a body of 11 bytes \\(sha256 [0-9a-f]{64}\\) at 20.*Z by worker test, which was lost before an answer was recorded\\. Whether ${server.host} acted on it is not known, and it is not sent again by itself\\. Ask the service \\(its Idempotency-Key was ${operation_id}\\)`,
      ),
    ),
  });
  expect(server.asked).toHaveLength(1);
  expect(await httpRequest.reconcile(args, contextFor())).toEqual(found);
});

test.each(['PUT', 'DELETE'])(
  'sent and not answered: a %s may be repeated, under the same key',
  async (method) => {
    const args = argsFor('/held', method);
    await killedWhileHeld(args);
    expect(await httpRequest.reconcile(args, contextFor())).toEqual({
      status: 'not_run',
      evidence: expect.stringMatching(
        new RegExp(
          `was sent .* It may have had its effect\\. It may be repeated: ${method} is idempotent \\(RFC 9110, section 9\\.2\\.2\\)\\. It is sent again under the same Idempotency-Key, ${operation_id}\\.$`,
        ),
      ),
    });
    const repeated = httpRequest.run(args, contextFor(2));
    await expect.poll(() => held.length, { interval: 5, timeout: 30_000 }).toBe(2);
    held[1]?.end('done');
    expect(await repeated).toMatchObject({ status: 'success' });
    expect(server.asked.map(({ headers }) => headers['idempotency-key'])).toEqual([
      operation_id,
      operation_id,
    ]);
  },
);

test('sent and not answered: a POST may be repeated where the user declared the service idempotent', async () => {
  const args = argsFor('/held');
  await killedWhileHeld(args);
  expect(await httpRequest.reconcile(args, contextFor(1, true))).toMatchObject({
    status: 'not_run',
    evidence: expect.stringMatching(
      new RegExp(
        `${server.host} is declared idempotent in /h/holdfast\\.json\\. It is sent again under the same Idempotency-Key`,
      ),
    ),
  });
});

test('a redirect that was answered before the kill is part of the evidence', async () => {
  const args = argsFor('/see');
  await killedWhileHeld(args);
  expect(await httpRequest.reconcile(args, contextFor())).toMatchObject({
    status: 'unknown',
    evidence: expect.stringContaining(` POST ${server.url('/see')} answered 303, a redirect.`),
  });
});

test('a failure that was recorded is the result after the kill, too', async () => {
  const args = { ...argsFor('/'), url: 'http://127.0.0.1:1/' };
  const changes = { rules: [{ host: '127.0.0.1:1', idempotent: false }] };
  await killedAt(bench, 'before_report', { ...call(args), changes });
  expect(await httpRequest.reconcile(args, contextFor())).toMatchObject({
    status: 'completed',
    outcome: {
      status: 'failed',
      output: expect.stringMatching(/^Nothing was sent to http:\/\/127\.0\.0\.1:1\/: /),
    },
  });
});

test('a worker that was frozen before it sent sends nothing once the call was settled', async () => {
  const args = argsFor('/things');
  using worker = await CallProcess.start(bench, {
    ...call(args),
    fault: { at: 'after_gate', signal: 'SIGSTOP' },
  });
  await worker.stopped();
  expect(await httpRequest.reconcile(args, contextFor())).toMatchObject({ status: 'not_run' });
  worker.kill('SIGCONT');
  expect(await worker.result()).toEqual({ error: 'Fenced' });
  expect(server.asked).toEqual([]);
});

test('a read is simply repeated', async () => {
  const args = { method: 'GET', url: server.url('/') };
  expect(await httpRequest.reconcile(args, contextFor())).toMatchObject({
    status: 'not_run',
    evidence: expect.stringMatching(/only reads/),
  });
  expect(await httpRequest.run(args, contextFor())).toMatchObject({ status: 'success' });
  expect(await httpRequest.run(args, contextFor())).toMatchObject({ status: 'success' });
});

test.each(['receipt-1.json', 'sent-1'])('a damaged %s is named, and nothing is claimed', async (name) => {
  const args = argsFor('/held');
  await killedWhileHeld(args);
  await writeFile(contextFor().operation.path(name), '{"kind":');
  expect(await httpRequest.reconcile(args, contextFor())).toMatchObject({
    status: 'unknown',
    evidence: expect.stringMatching(new RegExp(`What became of the request is not known\\. .*${name}`)),
  });
});

test("a worker's shutdown waits a little for the answer, and claims nothing when none comes", async () => {
  const shutdown = new AbortController();
  const reason = Object.assign(new Error('The worker shuts down.'), { name: 'WorkerShutdown' });
  const context = { ...contextFor(), signal: shutdown.signal };
  const running = httpRequest.run(argsFor('/held'), context);
  await expect.poll(() => held.length, { interval: 5, timeout: 30_000 }).toBe(1);
  shutdown.abort(reason);
  held[0]?.end('just in time');
  expect(await running).toMatchObject({ status: 'success', output: expect.stringMatching(/just in time$/) });
  await expect(httpRequest.run(argsFor('/things'), { ...context, attempt: 2 })).rejects.toBe(reason);
  expect(server.asked).toHaveLength(1);
});

test('neither header values nor bodies nor queries are in the journal', async () => {
  const args = { ...argsFor('/held?token=secret'), headers: { authorization: 'secret' } };
  await killedWhileHeld(args);
  for (const name of ['intent.json', 'sent-1', 'gate-1']) {
    expect(await readFile(contextFor().operation.path(name), 'utf8')).not.toMatch(/secret/);
  }
});
