/**
 * The session workflow on a real server, with activities that a test scripts: each session id has its own
 * model and tools, so that many sessions share one worker.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type {
  ArchivedSegment,
  ArchiveInput,
  CallModelInput,
  CallModelResult,
  CheckedCall,
  ContextFull,
  HostActivities,
  ModelActivities,
  SummarizeInput,
  ToolInput,
} from '../../src/activities/contract.ts';
import type { SessionEvent, SessionSettings, Summary } from '../../src/domain/event.ts';
import type { SessionFacts } from '../../src/domain/facts.ts';
import { hostTaskQueue, SESSION_TASK_QUEUE, workflowId } from '../../src/domain/ids.ts';
import { NO_USAGE } from '../../src/domain/model.ts';
import type { ToolOutcome } from '../../src/domain/tool.ts';
import { ensureUp } from '../../src/server/installation.ts';
import { workflowBundle } from '../../src/worker/bundle.ts';
import { QUERIES, SESSION_WORKFLOW } from '../../src/workflows/contract.ts';
import type {
  EventPage,
  GoalSignal,
  MessageSignal,
  SessionInput,
  SessionSignals,
} from '../../src/workflows/contract.ts';
import { temporaryHome } from './temporaryHome.ts';

interface SessionScript {
  /** By number of the call, from 0. */
  model: (
    call: number,
    input: CallModelInput,
  ) => Partial<CallModelResult> | ContextFull | Promise<Partial<CallModelResult> | ContextFull>;
  /** By number of the summary, from 0. Default: nothing can be summarised. */
  summarize?: (summary: number, input: SummarizeInput) => Summary | null | Promise<Summary | null>;
  tool?: (input: ToolInput) => ToolOutcome | Promise<ToolOutcome>;
  reconcile?: HostActivities['reconcileTool'];
  attach?: HostActivities['attachTool'];
  loadProject?: HostActivities['loadProject'];
  /** Called before a segment counts as archived; the time is that of its last event, as the archive has it. */
  archive?: (input: ArchiveInput) => Promise<ArchivedSegment | undefined>;
}

export interface SessionRig extends AsyncDisposable {
  client: Client;
  address: string;
  start: (script: SessionScript, options?: StartOptions) => Promise<SessionHandle>;
  /** Stops the workers, lets `between` happen, and starts others that know nothing of before. */
  replaceWorkers: (between: () => Promise<void>) => Promise<void>;
}

interface StartOptions {
  settings?: Partial<SessionSettings>;
  text?: string;
  history_events?: number;
  /** Default: the host that the rig serves. */
  host?: string;
  host_patience_ms?: number;
  /** The session begins with a goal instead of a message. */
  goal?: { objective: string; budget: number | null };
  goal_second_ms?: number;
}

const POLL_MS = 10;

const HOST = 'test-host';
const SETTINGS: SessionSettings = {
  model: 'm',
  api: 'chat',
  base_url: null,
  approval: 'auto',
  on_interrupt: 'continue',
};

/** One server, one worker. */
export async function sessionRig(): Promise<SessionRig> {
  const temporary = await temporaryHome();
  const { address } = await ensureUp(temporary.home, { withWorker: false });
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const connection = await NativeConnection.connect({ address });
  const scripts = new Map<string, SessionScript>();
  const archived: { session_id: string; segment: number; from_seq: number; through_seq: number }[] = [];
  const modelCalls = new Map<string, number>();
  const startWorkers = async (): Promise<() => Promise<unknown>> => {
    const workers = await createWorkers(connection, scripts, modelCalls, archived);
    const running = Promise.all(workers.map(async (worker) => worker.run()));
    return async () => {
      for (const worker of workers) worker.shutdown();
      return running;
    };
  };
  let stopWorkers = await startWorkers();
  const clientConnection = await Connection.connect({ address });
  const client = new Client({ connection: clientConnection, identity: 'rig' });
  let count = 0;
  return {
    client,
    address,
    start: async (script, options = {}) => {
      count += 1;
      const session_id = `test${String(count).padStart(8, '0')}`;
      scripts.set(session_id, script);
      return startSession(client, session_id, archived, options);
    },
    replaceWorkers: async (between) => {
      await stopWorkers();
      await between();
      stopWorkers = await startWorkers();
    },
    async [Symbol.asyncDispose]() {
      await stopWorkers();
      await clientConnection.close();
      await connection.close();
      await temporary[Symbol.asyncDispose]();
    },
  };
}

/** A reply that asks for one call of each given tool. */
export function calls(...tools: (Partial<CheckedCall> & { tool: string })[]): Partial<CallModelResult> {
  return {
    finish_reason: 'tool_calls',
    calls: tools.map((call, index) => ({
      call_id: `c${index}`,
      arguments: '{}',
      effect: 'side_effect',
      target: call.tool,
      ...call,
    })),
  };
}

/** Rejects when the activity is cancelled; never resolves otherwise. */
export async function untilCancelled(): Promise<never> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), 100);
  try {
    return await context.cancelled;
  } finally {
    clearInterval(timer);
  }
}

async function createWorkers(
  connection: NativeConnection,
  scripts: Map<string, SessionScript>,
  modelCalls: Map<string, number>,
  archived: object[],
): Promise<Worker[]> {
  const scriptOf = (session_id: string): SessionScript => {
    const script = scripts.get(session_id);
    if (script === undefined) throw new Error(`no script for ${session_id}`);
    return script;
  };
  const summaries = new Map<string, number>();
  const model: ModelActivities = {
    summarize: async (input) => {
      const summary = summaries.get(input.session_id) ?? 0;
      summaries.set(input.session_id, summary + 1);
      return (await scriptOf(input.session_id).summarize?.(summary, input)) ?? null;
    },
    callModel: async (input) => {
      const { session_id } = input;
      const call = modelCalls.get(session_id) ?? 0;
      modelCalls.set(session_id, call + 1);
      const reply = await scriptOf(session_id).model(call, input);
      if ('context_full' in reply) return reply;
      return {
        text: '',
        reasoning: null,
        calls: [],
        finish_reason: 'stop',
        usage: { ...NO_USAGE, input_tokens: 10, output_tokens: 1 },
        context_digest: '',
        notes: [],
        ...reply,
      };
    },
  };
  const host: HostActivities = {
    loadProject: async (input) => {
      const project = { digest: 'd', instructions: [], date: '2026-03-01', platform: 'linux x64' };
      for (const script of scripts.values())
        if (script.loadProject !== undefined) return script.loadProject(input);
      return project;
    },
    runTool: async (input) =>
      (await scriptOf(input.session_id).tool?.(input)) ?? { status: 'success', output: 'ok' },
    reconcileTool: async (input) =>
      (await scriptOf(input.session_id).reconcile?.(input)) ?? {
        status: 'unknown',
        evidence: 'nothing is known',
      },
    attachTool: async (input) =>
      (await scriptOf(input.session_id).attach?.(input)) ?? { status: 'success', output: 'attached' },
    archiveSegment: async (input) => {
      const written = await scriptOf(input.session_id).archive?.(input);
      archived.push(input);
      // Without a time it is a worker of before segments told it.
      return written as ArchivedSegment;
    },
    previewContext: async () => ({ messages: [], tools: [], digest: '', tokens_estimate: 0 }),
  };
  return Promise.all([
    Worker.create({
      connection,
      identity: 'rig',
      taskQueue: SESSION_TASK_QUEUE,
      workflowBundle: { codePath: await workflowBundle() },
      activities: { ...model },
      maxHeartbeatThrottleInterval: '100ms',
      sinks: { bus: { publish: { fn: () => {} } } },
    }),
    Worker.create({
      connection,
      identity: 'rig',
      taskQueue: hostTaskQueue(HOST),
      activities: { ...host },
      maxHeartbeatThrottleInterval: '100ms',
    }),
  ]);
}

export interface SessionHandle {
  session_id: string;
  archived: () => { segment: number; from_seq: number; through_seq: number }[];
  signal: <Name extends keyof SessionSignals>(name: Name, ...args: SessionSignals[Name]) => Promise<void>;
  send: (text: string, message?: Partial<MessageSignal>) => Promise<void>;
  facts: () => Promise<SessionFacts>;
  events: () => Promise<SessionEvent[]>;
  /** The facts, as soon as they fit. */
  until: (fits: (facts: SessionFacts) => boolean) => Promise<SessionFacts>;
  untilIdle: () => Promise<SessionFacts>;
}

async function startSession(
  client: Client,
  session_id: string,
  archived: { session_id: string; segment: number; from_seq: number; through_seq: number }[],
  {
    settings,
    text = 'go',
    history_events,
    host = HOST,
    host_patience_ms,
    goal,
    goal_second_ms,
  }: StartOptions,
): Promise<SessionHandle> {
  const input: SessionInput = {
    kind: 'new',
    session_id,
    user_id: 'u',
    title: 'a test',
    workspace: { host, path: '/w' },
    settings: { ...SETTINGS, ...settings },
    ...(history_events === undefined ? {} : { roll_over: { history_events } }),
    ...(host_patience_ms === undefined ? {} : { host_patience_ms }),
    ...(goal_second_ms === undefined ? {} : { goal_second_ms }),
  };
  const message: MessageSignal = { message_id: 'first', text, delivery: 'queue' };
  await client.workflow.signalWithStart(SESSION_WORKFLOW, {
    workflowId: workflowId(session_id),
    taskQueue: SESSION_TASK_QUEUE,
    args: [input],
    ...(goal === undefined
      ? { signal: 'message', signalArgs: [message] }
      : { signal: 'goal', signalArgs: [{ by: 'u', action: { do: 'set', ...goal } } satisfies GoalSignal] }),
  });
  const handle = client.workflow.getHandle(workflowId(session_id));
  const facts = async (): Promise<SessionFacts> => handle.query(QUERIES.facts);
  const until = async (fits: (facts: SessionFacts) => boolean): Promise<SessionFacts> => {
    for (;;) {
      const now = await facts();
      if (fits(now)) return now;
      await delay(POLL_MS);
    }
  };
  return {
    session_id,
    archived: () => archived.filter((segment) => segment.session_id === session_id),
    signal: async (name, ...args) => handle.signal(name, ...args),
    send: async (more, rest) =>
      handle.signal('message', {
        message_id: more,
        text: more,
        delivery: 'queue',
        ...rest,
      } satisfies MessageSignal),
    facts,
    events: async () =>
      (await handle.query<EventPage, [object]>(QUERIES.events, { after_seq: 0, max_bytes: 1e6 })).events,
    until,
    untilIdle: async () =>
      until(
        (now) =>
          now.queued === 0 && !['running', 'waiting_approval', 'host_unreachable'].includes(now.run_state),
      ),
  };
}
