/**
 * Live events for clients on this host: server-sent events over a unix socket that only the user can open.
 * `GET /sessions/ID/live` answers with `event: event` (a SessionEvent) and `event: delta` (a Delta). Nothing is
 * repeated or kept: what a client must not miss, it asks the workflow for.
 */
import { chmod, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { PRIVATE_FILE_MODE } from '../host/files.ts';
import type { Bus } from './bus.ts';

/** A client that reads slower than this much is dropped; it asks the workflow instead. */
const UNREAD_MAX_BYTES = 1024 * 1024;

export interface LiveServer {
  close: () => Promise<void>;
}

/** Listens on `socketPath`, in the place of a socket that a dead worker left. */
export async function serveLive(bus: Bus, socketPath: string): Promise<LiveServer> {
  await rm(socketPath, { force: true });
  const server = createServer((request, response) => answer(bus, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  await chmod(socketPath, PRIVATE_FILE_MODE);
  return { close: async () => close(server) };
}

function answer(bus: Bus, request: IncomingMessage, response: ServerResponse): void {
  const session_id = /^\/sessions\/([a-z0-9]+)\/live$/.exec(request.url ?? '')?.[1];
  if (request.method !== 'GET' || session_id === undefined) {
    response.writeHead(404).end('Expected GET /sessions/ID/live.\n');
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.flushHeaders();
  const send = (name: 'event' | 'delta') => (id: string, data: object) => {
    if (id !== session_id) return;
    if (response.writableLength > UNREAD_MAX_BYTES) response.destroy();
    else response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const onEvent = send('event');
  const onDelta = send('delta');
  bus.on('event', onEvent);
  bus.on('delta', onDelta);
  response.once('close', () => {
    bus.off('event', onEvent);
    bus.off('delta', onDelta);
  });
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
