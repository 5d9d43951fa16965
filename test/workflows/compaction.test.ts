import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContextFull } from '../../src/activities/contract.ts';
import type { Summary } from '../../src/domain/event.ts';
import { COMPACTIONS_IN_A_ROW_MAX } from '../../src/domain/limits.ts';
import {
  calls,
  sessionRig,
  untilCancelled,
  type SessionHandle,
  type SessionRig,
} from '../support/fakeActivities.ts';

let rig: SessionRig;
beforeAll(async () => {
  rig = await sessionRig();
});
afterAll(async () => rig[Symbol.asyncDispose]());

const FULL: ContextFull = { context_full: { tokens: 900, window: 1_000 } };

function summary(through_seq: number): Summary {
  return {
    through_seq,
    text: `all up to ${through_seq}`,
    user_messages: ['go'],
    carried: [],
    tokens_before: 900,
    tokens_after: 100,
    usage: null,
  };
}

function refusal(type: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable('refused', type, { remedy: 'do something' });
}

/** Types in order, without those that every run has. */
async function types(session: SessionHandle): Promise<string[]> {
  const usual = ['session_created', 'user_message', 'run_started', 'project_loaded'];
  return (await session.events()).map(({ type }) => type).filter((type) => !usual.includes(type));
}

const tooLong = async (): Promise<never> => Promise.reject(refusal('model.context_too_long'));

test('a context that is too large is summarised before the call, and the run goes on', async () => {
  const session = await rig.start({
    model: (call) => (call === 1 ? FULL : call === 0 ? calls({ tool: 'bash' }) : { text: 'done' }),
    summarize: (_, { through_seq }) => summary(through_seq - 1),
  });
  expect(await session.untilIdle()).toMatchObject({ run_state: 'idle', runs: [{ status: 'success' }] });
  expect(await types(session)).toEqual([
    'model_called',
    'assistant_message',
    'tool_call',
    'tool_result',
    'model_called',
    'context_full',
    'summary_created',
    'model_called',
    'assistant_message',
    'run_finished',
  ]);
  const { context } = await session.facts();
  expect(context).toMatchObject({ compactions: 1, compacting: false, tokens: 11 });
});

test('a provider that refuses the context for its length makes it be summarised as well', async () => {
  const session = await rig.start({
    model: async (call) => (call === 0 ? tooLong() : { text: 'done' }),
    summarize: (_, { through_seq }) => summary(through_seq),
  });
  expect((await session.untilIdle()).runs).toMatchObject([{ status: 'success' }]);
  expect(await session.events()).toContainEqual(
    expect.objectContaining({ type: 'context_full', by: 'provider', tokens: null }),
  );
});

test('a context of which nothing can be summarised is sent all the same, once', async () => {
  const asked: (true | undefined)[] = [];
  const session = await rig.start({
    model: (call, { unchecked }) => {
      asked.push(unchecked);
      return call === 0 ? FULL : { text: 'done' };
    },
  });
  expect((await session.untilIdle()).runs).toMatchObject([{ status: 'success' }]);
  expect(asked).toEqual([undefined, true]);
});

test('and when the provider refuses it even so, the run fails with the provider’s words', async () => {
  const session = await rig.start({ model: async (call) => (call === 0 ? FULL : tooLong()) });
  expect((await session.untilIdle()).runs).toMatchObject([
    { status: 'failed', error: { code: 'model.context_too_long', remedy: 'do something' } },
  ]);
});

test('a summary that can not be made fails the run with the reason, and the next message tries again', async () => {
  const session = await rig.start({
    model: (call) => (call < 2 ? FULL : { text: 'done' }),
    summarize: async (count, { through_seq }) =>
      count === 0 ? Promise.reject(refusal('model.auth')) : summary(through_seq),
  });
  expect((await session.untilIdle()).runs).toMatchObject([
    { status: 'failed', error: { code: 'model.auth', message: 'refused', remedy: 'do something' } },
  ]);
  await session.send('again');
  const { runs } = await session.until((now) => now.runs.length === 2 && now.run_state === 'idle');
  expect(runs[1]).toMatchObject({ status: 'success', error: null });
});

test('the rest after a summary is summarised, too, but not for ever', async () => {
  const operations: string[] = [];
  const session = await rig.start({
    model: () => FULL,
    summarize: (_, { operation_id, through_seq }) => {
      operations.push(operation_id);
      return summary(through_seq);
    },
  });
  const { runs, session_id } = await session.untilIdle();
  expect(runs[0]?.error?.message).toContain(`${COMPACTIONS_IN_A_ROW_MAX} times in a row`);
  expect(operations).toEqual(
    Array.from({ length: COMPACTIONS_IN_A_ROW_MAX }, (_, index) => `${session_id}.c${index + 1}`),
  );
});

test('on request an idle session is summarised without a run, and a message that comes meanwhile runs after it', async () => {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const session = await rig.start({
    model: () => ({ text: 'done' }),
    summarize: async (_, { through_seq }) => {
      begun.resolve();
      await goOn.promise;
      return summary(through_seq);
    },
  });
  await session.untilIdle();
  await session.signal('compact', { by: 'ada' });
  await begun.promise;
  await session.send('meanwhile');
  expect(await session.facts()).toMatchObject({ queued: 1, context: { compacting: true } });
  goOn.resolve();
  await session.until((now) => now.runs.length === 2 && now.run_state === 'idle');
  expect((await session.events()).slice(7).map(({ type }) => type)).toEqual([
    'compaction_requested',
    'user_message',
    'summary_created',
    'run_started',
    'project_loaded',
    'model_called',
    'assistant_message',
    'run_finished',
  ]);
});

test('on request in a run the summary is made when the step under way has its results', async () => {
  const session = await rig.start({
    model: (call) => (call === 0 ? calls({ tool: 'bash' }) : { text: 'done' }),
    tool: async () => {
      await session.signal('compact', { by: 'ada' });
      return { status: 'success', output: 'ok' };
    },
    summarize: (_, { through_seq }) => summary(through_seq),
  });
  await session.untilIdle();
  expect(await types(session)).toEqual([
    'model_called',
    'assistant_message',
    'tool_call',
    'compaction_requested',
    'tool_result',
    'summary_created',
    'model_called',
    'assistant_message',
    'run_finished',
  ]);
});

test('a summary that was asked for and fails does not end the run', async () => {
  const session = await rig.start({
    model: (call) => (call === 0 ? calls({ tool: 'bash' }) : { text: 'done' }),
    tool: async () => {
      await session.signal('compact', { by: 'ada' });
      return { status: 'success', output: 'ok' };
    },
    summarize: async () => Promise.reject(refusal('model.auth')),
  });
  expect((await session.untilIdle()).runs).toMatchObject([{ status: 'success' }]);
  expect(await types(session)).toContain('compaction_failed');
});

test('an interrupt ends the run while its context is summarised', async () => {
  const begun = Promise.withResolvers<void>();
  const session = await rig.start({
    model: () => FULL,
    summarize: async () => {
      begun.resolve();
      return untilCancelled();
    },
  });
  await begun.promise;
  await session.signal('interrupt', { by: 'ada' });
  expect((await session.untilIdle()).runs).toMatchObject([{ status: 'interrupted' }]);
  expect((await types(session)).slice(-3)).toEqual([
    'interrupt_requested',
    'compaction_failed',
    'run_finished',
  ]);
});

test('an interrupt ends a summary that was asked for in an idle session', async () => {
  const begun = Promise.withResolvers<void>();
  const session = await rig.start({
    model: () => ({ text: 'done' }),
    summarize: async () => {
      begun.resolve();
      return untilCancelled();
    },
  });
  await session.untilIdle();
  await session.signal('compact', { by: 'ada' });
  await begun.promise;
  await session.signal('interrupt', { by: 'ada' });
  await session.until(({ context }) => !context.compacting);
  expect((await session.events()).at(-1)).toMatchObject({
    type: 'compaction_failed',
    error: { code: 'interrupted' },
  });
});
