import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Delta } from '../../src/activities/deps.ts';
import type { SessionEvent } from '../../src/domain/event.ts';
import { createBus } from '../../src/worker/bus.ts';
import type { Bus } from '../../src/worker/bus.ts';
import { serveLive } from '../../src/worker/live.ts';
import type { LiveServer } from '../../src/worker/live.ts';
import { created, log } from '../domain/support/events.ts';

const ID = 'k3v9x2m7q4ta';
const OTHER = 'otherotherot';

/** As much as the server keeps for a client that does not read. */
const UNREAD_BYTES = 1024 * 1024;

let folder: string;
let path: string;
let bus: Bus;
let server: LiveServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hf-'));
  path = join(folder, 'live.sock');
  bus = createBus();
  server = await serveLive(bus, path);
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** A client of a session's live events, once the server has answered. */
async function follow(session_id: string, at = path): Promise<IncomingMessage> {
  const response = await get(`/sessions/${session_id}/live`, at);
  expect(response.statusCode).toBe(200);
  return response;
}

async function get(target: string, at = path, method = 'GET'): Promise<IncomingMessage> {
  const sent: ClientRequest = request({ socketPath: at, path: target, method }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => {}); // `aborted`, when the server closes
  return response.setEncoding('utf8');
}

/** What comes, until this text has come. */
async function readThrough(response: IncomingMessage, end: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = '';
  response.on('data', (chunk: string) => {
    text += chunk;
    if (text.includes(end)) resolve(text);
  });
  return promise;
}

/** Resolves when the stream is closed, with an error or without. */
async function closed(stream: IncomingMessage | Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    stream.once('close', () => resolve());
  });
}

function delta(text: string): Delta {
  return { operation_id: 'o', kind: 'text', text };
}

const [EVENT] = log(created()) as [SessionEvent];

describe('the socket', () => {
  test('can be opened by the user alone', async () => {
    const info = await stat(path);
    expect(info.isSocket()).toBe(true);
    expect(info.mode & 0o777).toBe(0o600);
  });

  test('takes the place of a file that is no socket', async () => {
    const stale = join(folder, 'stale');
    await writeFile(stale, 'what was here');
    const again = await serveLive(bus, stale);
    await follow(ID, stale);
    await again.close();
  });

  test('takes the place of one that a killed worker left', async () => {
    const stale = join(folder, 'stale');
    const script = `require('net').createServer().listen(${JSON.stringify(stale)}, () => console.log('listening'))`;
    const worker = execa(process.execPath, ['-e', script], { reject: false });
    await once(worker.stdout, 'data');
    worker.kill('SIGKILL');
    await worker;
    expect((await stat(stale)).isSocket()).toBe(true);
    const again = await serveLive(bus, stale);
    await follow(ID, stale);
    await again.close();
  });

  test('that can not be made is an error', async () => {
    await expect(serveLive(bus, join(folder, 'none', 'live.sock'))).rejects.toThrow(/ENOENT|EACCES/);
  });

  test('is gone when it is closed', async () => {
    await server.close();
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a client', () => {
  test('gets events and deltas as server-sent events, each on one line', async () => {
    const response = await follow(ID);
    expect(response.headers['content-type']).toBe('text/event-stream');
    expect(response.headers['cache-control']).toBe('no-store');
    bus.emit('event', ID, EVENT);
    bus.emit('delta', ID, delta('a\nb\r\n\nevent: x 🙂'));
    bus.emit('delta', ID, delta('end'));
    expect(await readThrough(response, '"end"')).toBe(
      [
        `event: event\ndata: ${JSON.stringify(EVENT)}\n\n`,
        'event: delta\ndata: {"operation_id":"o","kind":"text","text":"a\\nb\\r\\n\\nevent: x 🙂"}\n\n',
        'event: delta\ndata: {"operation_id":"o","kind":"text","text":"end"}\n\n',
      ].join(''),
    );
  });

  test('gets what happens in its session alone, and each of many gets all of it', async () => {
    const [first, second, other] = await Promise.all([follow(ID), follow(ID), follow(OTHER)]);
    const reading = [first, second].map(async (response) => readThrough(response, '"end"'));
    bus.emit('delta', ID, delta('mine'));
    bus.emit('delta', OTHER, delta('other'));
    bus.emit('delta', ID, delta('end'));
    for (const text of await Promise.all(reading)) {
      expect(text).toContain('mine');
      expect(text).not.toContain('other');
    }
    expect(await readThrough(other, '"other"')).not.toContain('mine');
  });

  test('hears nothing of what happened before it came', async () => {
    bus.emit('delta', ID, delta('before'));
    const response = await follow(ID);
    bus.emit('delta', ID, delta('end'));
    expect(await readThrough(response, '"end"')).not.toContain('before');
  });

  test('that goes away is forgotten', async () => {
    const response = await follow(ID);
    expect(bus.listenerCount('event')).toBe(1);
    response.destroy();
    await untilListeners(0);
    expect(bus.listenerCount('delta')).toBe(0);
  });

  test.each([
    ['GET', '/'],
    ['GET', `/sessions/${ID}`],
    ['GET', `/sessions/${ID}/live/more`],
    ['GET', '/sessions/../live'],
    ['POST', `/sessions/${ID}/live`],
  ])('is told what can be asked, after %s %s', async (method, target) => {
    const response = await get(target, path, method);
    expect(response.statusCode).toBe(404);
    expect(await readThrough(response, '\n')).toBe('Expected GET /sessions/ID/live.\n');
    expect(bus.listenerCount('event')).toBe(0);
  });

  test('that reads too slowly is dropped, and the others lose nothing', async () => {
    const slow = await connectWithoutReading();
    const quick = await follow(ID);
    await untilListeners(2);
    const dropped = closed(slow);
    const big = 'x'.repeat(256 * 1024);
    for (let sent = 1; bus.listenerCount('delta') > 1; sent += 1) {
      expect(sent * big.length).toBeLessThan(8 * UNREAD_BYTES);
      const reading = readThrough(quick, `x${sent}"`);
      bus.emit('delta', ID, delta(`${big}${sent}`));
      expect((await reading).length).toBeGreaterThan(big.length);
    }
    const reading = readThrough(quick, '"end"');
    bus.emit('delta', ID, delta('end'));
    await reading;
    slow.resume();
    await dropped;
    expect(bus.listenerCount('delta')).toBe(1);
  });
});

test('when the server closes, its clients see the end, and nobody listens any more', async () => {
  const response = await follow(ID);
  const ended = closed(response);
  await server.close();
  await ended;
  await untilListeners(0);
});

test('a bus takes any number of listeners, and keeps nothing for those that come later', () => {
  const many = createBus();
  let heard = 0;
  many.emit('event', ID, EVENT);
  for (let count = 0; count < 100; count += 1) many.on('event', () => (heard += 1));
  expect(heard).toBe(0);
  many.emit('event', ID, EVENT);
  expect(heard).toBe(100);
  expect(many.getMaxListeners()).toBe(0);
});

/** A client that asks and then reads nothing of the answer. */
async function connectWithoutReading(): Promise<Socket> {
  const socket = connect(path);
  await once(socket, 'connect');
  socket.on('error', () => {});
  socket.pause();
  socket.write(`GET /sessions/${ID}/live HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

/** The server sees a connection's begin and end in its own time; its turn comes between two of ours. */
async function untilListeners(count: number): Promise<void> {
  while (bus.listenerCount('event') !== count) await new Promise(setImmediate);
}
