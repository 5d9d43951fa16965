/** A home of its own for each test, in a short path (a socket's is limited to about 100 bytes), and its end. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeAt } from '../../src/host/home.ts';
import type { Home } from '../../src/host/home.ts';
import { takeDown } from '../../src/server/installation.ts';

export interface TemporaryHome extends AsyncDisposable {
  home: Home;
}

/** Disposing of it stops what runs there and removes the folder. */
export async function temporaryHome(): Promise<TemporaryHome> {
  const root = await mkdtemp(join(tmpdir(), 'hf-'));
  const home = homeAt(root);
  return {
    home,
    async [Symbol.asyncDispose]() {
      await takeDown(home);
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
