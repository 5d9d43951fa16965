/** Events of a session by hand: each with the next seq, a second after the one before. */
import type { EventBody, SessionEvent, SessionSettings } from '../../../src/domain/event.ts';
import { applyEvent } from '../../../src/domain/fold.ts';
import { NO_USAGE } from '../../../src/domain/model.ts';
import type { ModelToolCall, OpaqueReasoning, Usage } from '../../../src/domain/model.ts';
import type { CallState, SessionState } from '../../../src/domain/session.ts';

export const SETTINGS: SessionSettings = {
  model: 'm',
  api: 'chat',
  base_url: null,
  approval: 'auto',
  on_interrupt: 'continue',
};

export const SESSION_ID = 'k3v9x2m7q4ta';
export const RUN = `${SESSION_ID}.r1`;

/** Numbers the bodies from 1. All but those before the first run belong to the run that is under way. */
export function log(...bodies: EventBody[]): SessionEvent[] {
  let runs = 0;
  return bodies.map((body, index) => {
    if (body.type === 'run_started') runs += 1;
    return {
      seq: index + 1,
      at: timeOf(index + 1),
      ...(runs === 0 ? {} : { run_id: `${SESSION_ID}.r${runs}` }),
      ...body,
    };
  });
}

/** A time for each seq, a second apart. */
export function timeOf(seq: number): string {
  return new Date(Date.UTC(2026, 2, 1) + seq * 1000).toISOString();
}

/** The state after these events. */
export function stateOf(events: readonly SessionEvent[]): SessionState {
  const state = events.reduce<SessionState | null>(applyEvent, null);
  if (state === null) throw new Error('Expected at least one event, found none.');
  return state;
}

export function created(settings: Partial<SessionSettings> = {}): EventBody {
  return {
    type: 'session_created',
    session_id: SESSION_ID,
    user_id: 'ada',
    title: 'a test',
    workspace: { host: 'h', path: '/w' },
    settings: { ...SETTINGS, ...settings },
  };
}

export function message(message_id: string, delivery: 'queue' | 'steer' = 'queue'): EventBody {
  return { type: 'user_message', message_id, text: `text of ${message_id}`, delivery };
}

export function started(...message_ids: string[]): EventBody {
  return { type: 'run_started', trigger: 'message', message_ids };
}

export const loaded: EventBody = {
  type: 'project_loaded',
  project: { digest: 'd', instructions: [], date: '2026-03-01', platform: 'linux x64' },
};

export function called(through_seq: number, step = 1): EventBody {
  return { type: 'model_called', operation_id: `${RUN}.s${step}.0`, model: 'm', through_seq };
}

export function asked(...call_ids: string[]): ModelToolCall[] {
  return call_ids.map((call_id) => ({ call_id, tool: 'bash', arguments: '{}' }));
}

export function replied(
  text: string,
  tool_calls: ModelToolCall[] = [],
  {
    reasoning = null,
    usage = null,
    step = 1,
  }: { reasoning?: OpaqueReasoning | null; usage?: Usage | null; step?: number } = {},
): EventBody {
  return {
    type: 'assistant_message',
    operation_id: `${RUN}.s${step}.0`,
    text,
    reasoning,
    tool_calls,
    finish_reason: tool_calls.length === 0 ? 'stop' : 'tool_calls',
    usage,
    context_digest: '',
  };
}

/** `op_ID` is the operation of call ID unless another is given. */
export function accepted(call_id: string, call: Partial<CallState> = {}): EventBody {
  const {
    operation_id = `op_${call_id}`,
    tool = 'bash',
    effect = 'side_effect',
    target = `run ${call_id}`,
  } = call;
  const problem = call.problem === undefined ? {} : { problem: call.problem };
  return { type: 'tool_call', call_id, operation_id, tool, args: {}, effect, target, ...problem };
}

export function result(
  call_id: string,
  output = `output of ${call_id}`,
  more: Partial<Extract<EventBody, { type: 'tool_result' }>> = {},
): EventBody {
  return { type: 'tool_result', call_id, operation_id: `op_${call_id}`, status: 'success', output, ...more };
}

export function recovery(
  call_id: string,
  status: Extract<EventBody, { type: 'tool_recovery' }>['status'],
  more: Partial<Extract<EventBody, { type: 'tool_recovery' }>> = {},
): EventBody {
  const evidence = `Evidence of ${call_id}.`;
  return {
    type: 'tool_recovery',
    call_id,
    operation_id: `op_${call_id}`,
    status,
    evidence,
    by: 'tool',
    ...more,
  };
}

export function finished(status: 'success' | 'failed' | 'interrupted' = 'success'): EventBody {
  return { type: 'run_finished', status, error: null, usage: NO_USAGE };
}
