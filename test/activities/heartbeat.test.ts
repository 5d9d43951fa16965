import { getEventListeners, once } from 'node:events';
import { CancelledFailure, Context } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isShutdown, withHeartbeat, WorkerShutdown } from '../../src/activities/heartbeat.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Runs until its signal aborts, and answers with the reason. */
async function untilAborted(signal: AbortSignal): Promise<unknown> {
  if (!signal.aborted) await once(signal, 'abort');
  return signal.reason;
}

/** What an activity is told when Temporal cancels it for this reason. */
async function reasonAfter(reason?: Reason): Promise<unknown> {
  const environment = mockEnvironment();
  return environment.run(async () =>
    withHeartbeat(async (signal) => {
      environment.cancel(reason);
      return untilAborted(signal);
    }),
  );
}

async function fail(): Promise<never> {
  throw new Error('failed');
}

/** Without the log lines of what fails on purpose. */
function mockEnvironment(): MockActivityEnvironment {
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
}

type Reason = NonNullable<Parameters<MockActivityEnvironment['cancel']>[0]>;

test('heartbeats come once a second as long as the work lasts, and not after it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const environment = mockEnvironment();
  const beat = vi.fn<() => void>();
  environment.on('heartbeat', beat);
  await environment.run(async () =>
    withHeartbeat(async () => {
      vi.advanceTimersByTime(3_500);
      expect(beat).toHaveBeenCalledTimes(3);
    }),
  );
  expect(vi.getTimerCount()).toBe(0);
});

test('the result and the error of the work are its own, and its heartbeat ends with either', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const environment = mockEnvironment();
  expect(await environment.run(async () => withHeartbeat(async () => 'done'))).toBe('done');
  await expect(environment.run(async () => withHeartbeat(fail))).rejects.toThrow('failed');
  expect(vi.getTimerCount()).toBe(0);
});

describe('the signal', () => {
  test('is not aborted while all is well', async () => {
    const environment = mockEnvironment();
    const aborted = await environment.run(async () => withHeartbeat(async (signal) => signal.aborted));
    expect(aborted).toBe(false);
  });

  test('aborts with an AbortError when the run is interrupted', async () => {
    for (const reason of [await reasonAfter(), await reasonAfter('CANCELLED')]) {
      expect(reason).toMatchObject({ name: 'AbortError', message: 'The run was interrupted.' });
      expect(isShutdown(AbortSignal.abort(reason))).toBe(false);
    }
  });

  test.each<Reason>([
    'WORKER_SHUTDOWN',
    'TIMED_OUT',
    'NOT_FOUND',
    'PAUSED',
    'RESET',
    'HEARTBEAT_DETAILS_CONVERSION_FAILED',
  ])('aborts with WorkerShutdown for %s: nobody has interrupted the run', async (why) => {
    const reason = await reasonAfter(why);
    expect(reason).toBeInstanceOf(WorkerShutdown);
    expect(reason).toMatchObject({
      name: 'WorkerShutdown',
      message: `The worker let go of this call (${why}).`,
    });
    expect(isShutdown(AbortSignal.abort(reason))).toBe(true);
  });

  test('is aborted from the start when the activity was cancelled before it began', async () => {
    const environment = mockEnvironment();
    environment.cancel('WORKER_SHUTDOWN');
    const reason = await environment.run(async () => {
      // The environment fails an activity that it has cancelled, unless that has ended by then.
      expect(Context.current().cancellationSignal.aborted).toBe(true);
      return withHeartbeat(untilAborted);
    });
    expect(reason).toBeInstanceOf(WorkerShutdown);
  });

  test('that has not been aborted is no shutdown', () => {
    expect(isShutdown(new AbortController().signal)).toBe(false);
    expect(isShutdown(AbortSignal.abort(new CancelledFailure('WORKER_SHUTDOWN')))).toBe(false);
  });
});

test('nothing keeps listening when the work has ended', async () => {
  const environment = mockEnvironment();
  const { cancellationSignal } = environment.context;
  await environment.run(async () => withHeartbeat(async () => 'done'));
  expect(getEventListeners(cancellationSignal, 'abort')).toEqual([]);
});
