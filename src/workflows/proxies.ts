/** The activities as the workflow calls them: queue, attempts, time-outs and cancellation of each. */
import { ActivityCancellationType, proxyActivities, proxySinks } from '@temporalio/workflow';
import type { ActivityInterfaceFor, ActivityProxyOptions, Sinks } from '@temporalio/workflow';
import type { HostActivities, ModelActivities } from '../activities/contract.ts';
import type { SessionEvent } from '../domain/event.ts';
import { hostTaskQueue, SESSION_TASK_QUEUE } from '../domain/ids.ts';

/** A lost worker is noticed after this even when nobody reports it. */
const HEARTBEAT_TIMEOUT = '10s';

/** An interrupted activity says itself what it did until then, so its end is waited for. */
const cancellationType = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;

/** The worker's bus: events leave the workflow by this alone, and never during replay. */
export interface BusSinks extends Sinks {
  bus: { publish(session_id: string, event: SessionEvent): void };
}

export const { bus } = proxySinks<BusSinks>();

export const modelActivities = proxyActivities<ModelActivities>({
  taskQueue: SESSION_TASK_QUEUE,
  startToCloseTimeout: '30m',
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  cancellationType,
  retry: { maximumAttempts: 5, initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/** The activities of a workspace's host, one set for each way of trying again. */
export interface HostProxies {
  /** Repeats nothing by itself. */
  once: ActivityInterfaceFor<Pick<HostActivities, 'runTool'>>;
  /** May be repeated: it only reads. */
  reading: ActivityInterfaceFor<Pick<HostActivities, 'runTool'>>;
  /** Only looks or waits, so it is tried until it answers. */
  looking: ActivityInterfaceFor<Pick<HostActivities, 'loadProject' | 'reconcileTool' | 'archiveSegment'>>;
  waiting: ActivityInterfaceFor<Pick<HostActivities, 'attachTool'>>;
}

/** Proxies for one host's task queue. Calls that it does not take in time are rejected; null: they wait for ever. */
export function hostActivities(host: string, patience_ms: number | null): HostProxies {
  const common: ActivityProxyOptions<HostActivities> = { taskQueue: hostTaskQueue(host) };
  if (patience_ms !== null) common.scheduleToStartTimeout = patience_ms;
  const beating = { ...common, heartbeatTimeout: HEARTBEAT_TIMEOUT, cancellationType } as const;
  const quickly = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' } as const;
  return {
    once: proxyActivities<HostActivities>({
      ...beating,
      startToCloseTimeout: '24h',
      retry: { maximumAttempts: 1 },
    }),
    reading: proxyActivities<HostActivities>({
      ...beating,
      startToCloseTimeout: '5m',
      retry: { maximumAttempts: 3, ...quickly },
    }),
    looking: proxyActivities<HostActivities>({
      ...common,
      // A frozen worker still takes tasks: without it each would be gone for the whole minute.
      heartbeatTimeout: HEARTBEAT_TIMEOUT,
      startToCloseTimeout: '1m',
      retry: quickly,
    }),
    waiting: proxyActivities<HostActivities>({ ...beating, startToCloseTimeout: '24h', retry: quickly }),
  };
}
