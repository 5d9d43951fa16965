import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { untilHung } from '../../src/server/workerPulse.ts';

const QUICKLY = { interval_ms: 10, answer_ms: 50, misses: 3 };

let folder: string;
let socketPath: string;
let server: Server | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hf-'));
  socketPath = join(folder, 's');
});
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  await rm(folder, { recursive: true });
});

test('one that takes connections and never answers is hung', async () => {
  let asked = 0;
  await listen(() => {
    asked += 1;
  });
  await untilHung(socketPath, new AbortController().signal, QUICKLY);
  expect(asked).toBe(3);
});

test('one that answers, whatever it says, is not hung', async () => {
  const stop = new AbortController();
  let asked = 0;
  await listen((answer) => {
    asked += 1;
    answer();
    if (asked === 5) stop.abort();
  });
  await expect(untilHung(socketPath, stop.signal, QUICKLY)).rejects.toThrow('aborted');
});

test('a socket that nobody serves is no sign of a hang', async () => {
  const signal = AbortSignal.timeout(300);
  await expect(untilHung(socketPath, signal, QUICKLY)).rejects.toThrow('aborted');
});

test('one that is silent for a moment is not hung', async () => {
  const stop = new AbortController();
  let asked = 0;
  await listen((answer) => {
    asked += 1;
    if (asked % 3 === 0) answer();
    if (asked === 9) stop.abort();
  });
  await expect(untilHung(socketPath, stop.signal, QUICKLY)).rejects.toThrow('aborted');
});

async function listen(onAsked: (answer: () => void) => void): Promise<void> {
  server = createServer((_, response) =>
    onAsked(() => response.writeHead(404, { connection: 'close' }).end()),
  );
  server.listen(socketPath);
  await once(server, 'listening');
}
