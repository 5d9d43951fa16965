/** Before any test: the workflow bundle is built once, so that no two workers build it at the same time. */
import { workflowBundle } from '../../src/worker/bundle.ts';

export async function setup(): Promise<void> {
  await workflowBundle();
}
