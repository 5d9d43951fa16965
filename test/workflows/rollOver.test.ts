import { afterAll, beforeAll, expect, test } from 'vitest';
import { MESSAGE_MAX_BYTES } from '../../src/domain/limits.ts';
import { sessionRig, type SessionRig } from '../support/fakeActivities.ts';

let rig: SessionRig;
beforeAll(async () => {
  rig = await sessionRig();
});
afterAll(async () => rig[Symbol.asyncDispose]());

/** Together more than Temporal takes for the input of a workflow. */
const MESSAGES = 17;

test('more messages than continue-as-new could carry come while the archive can not be written, and none is lost', async () => {
  const begun = Promise.withResolvers<void>();
  const writable = Promise.withResolvers<void>();
  const session = await rig.start(
    {
      model: () => ({ text: 'done' }),
      archive: async () => {
        begun.resolve();
        await writable.promise;
      },
    },
    { history_events: 10 },
  );
  await begun.promise;
  const text = 'x'.repeat(MESSAGE_MAX_BYTES);
  for (let index = 0; index < MESSAGES; index += 1) await session.send(text, { message_id: `m${index}` });
  writable.resolve();
  const facts = await session.until(
    ({ run_count, run_state }) => run_count > MESSAGES && run_state === 'idle',
  );
  expect(facts.run_count).toBe(MESSAGES + 1);
  const segments = session.archived();
  for (const [index, { from_seq, through_seq }] of segments.entries()) {
    const before = segments[index - 1];
    if (before !== undefined) expect([before.from_seq, before.through_seq + 1]).toContain(from_seq);
    expect(through_seq).toBeGreaterThanOrEqual(from_seq);
  }
});
