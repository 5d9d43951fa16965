/** The two Temporal workers of one process: sessions and model calls on one queue, this host's tools on another. */
import type { Client } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { NativeConnection, WorkerOptions } from '@temporalio/worker';
import { createHostActivities, createModelActivities } from '../activities/activities.ts';
import type { SessionEvent } from '../domain/event.ts';
import { hostTaskQueue, SESSION_TASK_QUEUE } from '../domain/ids.ts';
import type { Home } from '../host/home.ts';
import type { Bus } from './bus.ts';
import { createDeps } from './deps.ts';

export interface WorkersOptions {
  home: Home;
  host: string;
  identity: string;
  namespace: string;
  connection: NativeConnection;
  client: Client;
  bus: Bus;
  bundlePath: string;
  env: NodeJS.ProcessEnv;
}

/** Model calls and tools wait most of the time, so many fit in one process. */
const ACTIVITIES_AT_ONCE = 500;

/** Creates both; `run` them, `shutdown` them. */
export async function createWorkers(options: WorkersOptions): Promise<[Worker, Worker]> {
  const { connection, namespace, identity, bus } = options;
  const deps = createDeps(options);
  const common: Omit<WorkerOptions, 'taskQueue'> = {
    connection,
    namespace,
    identity,
    maxConcurrentActivityTaskExecutions: ACTIVITIES_AT_ONCE,
    // Cancellation arrives with a heartbeat; the SDK would hold these back for 0.8 of the time-out.
    maxHeartbeatThrottleInterval: '1s',
    // Calls end by themselves in this time; after it they are handed to the next worker.
    shutdownGraceTime: '5s',
    shutdownForceTime: '15s',
  };
  const sessions = await Worker.create({
    ...common,
    taskQueue: SESSION_TASK_QUEUE,
    workflowBundle: { codePath: options.bundlePath },
    activities: createModelActivities(deps),
    stickyQueueScheduleToStartTimeout: '2s',
    sinks: {
      bus: {
        publish: {
          fn: (_info: unknown, session_id: string, event: SessionEvent) => {
            bus.emit('event', session_id, event);
          },
          callDuringReplay: false,
        },
      },
    },
  });
  const host = await Worker.create({
    ...common,
    taskQueue: hostTaskQueue(options.host),
    activities: createHostActivities(deps),
  });
  return [sessions, host];
}
