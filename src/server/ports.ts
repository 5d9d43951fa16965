/**
 * Ports for one home's server: the ones it had before, so that workers and clients reconnect by
 * themselves, else free ones.
 */
import { createHash, randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVER_IP, type Ports } from './serverCommand.ts';

/**
 * Below the range that kernels use for outgoing connections (32768 on Linux, 49152 on macOS), so that
 * nothing takes a port by chance while the server is down.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;
const MAX_TRIES = 200;
/**
 * A server that was just killed counts as dead before the last of its threads is gone, and its sockets
 * with it; on a busy machine that takes a while.
 */
const RELEASE_TIMEOUT_MS = 3_000;
const RELEASE_POLL_MS = 25;

/**
 * `before` where all four are free, else what the home's path gives (the same after `down` and `up`, so
 * that a bookmark of the Web UI stays good), else any that are free.
 */
export async function choosePorts(root: string, before?: Ports): Promise<Ports> {
  if (before !== undefined && (await becomeFree(before))) return before;
  const digest = createHash('sha256').update(root).digest().readUInt32BE(0);
  const wanted = FIRST_PORT + (digest % ((LAST_PORT - FIRST_PORT) / 4)) * 4;
  for (let attempt = 0, base = wanted; attempt < MAX_TRIES; attempt++) {
    const ports = { grpc: base, ui: base + 1, http: base + 2, metrics: base + 3 };
    if (await allFree(ports)) return ports;
    base = randomInt(FIRST_PORT, LAST_PORT - 4);
  }
  throw new Error(
    `Expected four free ports between ${FIRST_PORT} and ${LAST_PORT} on ${SERVER_IP}, found none in ${MAX_TRIES} tries. Stop what holds them (ss -ltnp, lsof -i).`,
  );
}

async function becomeFree(ports: Ports): Promise<boolean> {
  const deadline = Date.now() + RELEASE_TIMEOUT_MS;
  for (;;) {
    if (await allFree(ports)) return true;
    if (Date.now() > deadline) return false;
    await sleep(RELEASE_POLL_MS);
  }
}

async function allFree(ports: Ports): Promise<boolean> {
  for (const port of Object.values(ports)) {
    if (!(await isFree(port))) return false;
  }
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ host: SERVER_IP, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
