/** An outside service: each POST to `/TOKEN?wait_ms=N` is an effect. It keeps what arrived, by Idempotency-Key. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { tokensIn } from './calls.ts';

export interface Arrival {
  token: string;
  /** The Idempotency-Key; empty when none was sent. */
  key: string;
}

export interface EffectServer {
  url: string;
  /** `127.0.0.1:PORT`, for the rules of http_request. */
  host: string;
  /** All requests, in order of arrival. */
  arrivals: Arrival[];
  close: () => Promise<void>;
}

export async function startEffectServer(): Promise<EffectServer> {
  const arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    void answer(request, response, arrivals);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    arrivals,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  arrivals: Arrival[],
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const key = request.headers['idempotency-key'];
  const [token = ''] = tokensIn(url.pathname);
  arrivals.push({ token, key: typeof key === 'string' ? key : '' });
  request.resume();
  await delay(Number(url.searchParams.get('wait_ms')));
  response.writeHead(200, { 'content-type': 'text/plain' }).end(`done ${token}\n`);
}
