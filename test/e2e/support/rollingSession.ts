/** Sessions that continue as new early. */
import { createSession } from '../../../src/client/create.ts';
import { connect } from '../../../src/client/service.ts';
import { hostId } from '../../../src/host/home.ts';
import type { RollOverThresholds } from '../../../src/workflows/contract.ts';
import type { World } from '../../support/world.ts';

/** Starts a session with the message `go` and does not wait for it. */
export async function startSession(world: World, roll_over: RollOverThresholds): Promise<string> {
  const service = await connect(world.home, world.env);
  try {
    const { session_id } = await createSession(service, {
      user_id: 'test',
      workspace: { host: await hostId(world.home), path: world.workspace },
      settings: {
        model: 'scripted',
        api: 'chat',
        base_url: world.model.url,
        approval: 'auto',
        on_interrupt: 'continue',
      },
      text: 'go',
      roll_over,
    });
    return session_id;
  } finally {
    await service.close();
  }
}
