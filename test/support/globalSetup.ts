/** Before any test: what several of them would make at the same time is made once, the bundle and the server's binary. */
import { findTemporal } from '../../src/server/binary.ts';
import { workflowBundle } from '../../src/worker/bundle.ts';

export async function setup(): Promise<void> {
  await Promise.all([workflowBundle(), findTemporal()]);
}
