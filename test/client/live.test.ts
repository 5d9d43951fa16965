import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eventParser, watchLive, type Delta } from '../../src/client/live.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hf-'));
});
afterEach(async () => rm(folder, { recursive: true }));

test('server-sent events are read whatever the cuts between chunks are', () => {
  const text =
    ': hi\nevent: delta\ndata: {"a":\ndata: 1}\n\nevent: event\r\ndata: x\r\n\r\ndata: y\n\nevent: lost\n\n';
  for (let size = 1; size <= text.length; size++) {
    const seen: [string, string][] = [];
    const parse = eventParser((name, data) => seen.push([name, data]));
    for (let at = 0; at < text.length; at += size) parse(text.slice(at, at + size));
    expect(seen).toEqual([
      ['delta', '{"a":\n1}'],
      ['event', 'x'],
      ['message', 'y'],
    ]);
  }
});

test('a worker that goes away and comes back is told, and its deltas are heard again', async () => {
  const path = join(folder, 's.sock');
  const deltas: string[] = [];
  const workers: boolean[] = [];
  const stop = new AbortController();
  const watching = watchLive(path, 'abc', {
    onDelta: ({ text }: Delta) => deltas.push(text),
    onEvent: () => {},
    onWorker: (alive) => workers.push(alive),
    signal: stop.signal,
  });
  const first = await serve(path, 'one');
  await vi.waitFor(() => expect(deltas).toEqual(['one']), 5_000);
  await close(first);
  await rm(path, { force: true });
  const second = await serve(path, 'two');
  await vi.waitFor(() => expect(deltas).toEqual(['one', 'two']), 5_000);
  expect(workers).toEqual([false, true]);
  stop.abort();
  await watching;
  await close(second);
});

async function serve(path: string, text: string): Promise<Server> {
  const server = createServer((request, response: ServerResponse) => {
    expect(request.url).toBe('/sessions/abc/live');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: delta\ndata: ${JSON.stringify({ operation_id: 'o', kind: 'text', text })}\n\n`);
    response.write('event: delta\ndata: {"torn\n\n');
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
