/** Worlds of one installation: its server and worker are started once for a test file, and end with it. */
import { afterAll, beforeAll } from 'vitest';
import { temporaryHome, type TemporaryHome } from './temporaryHome.ts';
import { World } from './world.ts';

/**
 * To be called once in a file, for `World.create` with the file's home. A world that changes how server or worker are
 * started needs a home of its own.
 */
export function sharedWorlds(): typeof World.create {
  let shared: TemporaryHome | undefined;
  beforeAll(async () => {
    shared = await temporaryHome();
  });
  afterAll(async () => shared?.[Symbol.asyncDispose]());
  return async (script, options) => {
    if (shared === undefined) throw new Error('Expected a world to be made in a test, found no home yet.');
    return World.create(script, { home: shared.home, ...options });
  };
}
