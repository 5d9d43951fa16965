/**
 * A session with a goal and a scripted model, without Temporal and with a clock that only waits move: what
 * would take a night takes a moment. Each event takes a tenth of a second.
 */
import type { EventBody, SessionEvent } from '../../../src/domain/event.ts';
import type { RunError } from '../../../src/domain/failure.ts';
import { applyEvent } from '../../../src/domain/fold.ts';
import { actOnGoal, isRefusal, type GoalAction } from '../../../src/domain/goalActions.ts';
import { operationId, runId } from '../../../src/domain/ids.ts';
import { keepCall } from '../../../src/domain/keptTools.ts';
import { NO_USAGE } from '../../../src/domain/model.ts';
import type { CallState, SessionState } from '../../../src/domain/session.ts';
import { nextStep } from '../../../src/domain/step.ts';
import type { Decision } from '../../../src/domain/step.ts';
import { later } from '../../../src/domain/time.ts';
import type { FileVersion } from '../../../src/domain/tool.ts';
import { created, loaded, log, stateOf } from './events.ts';
import { freeze } from './freeze.ts';

/** What the model answers; absent parts: no text, no calls, 100 tokens. */
export interface Answer {
  text?: string;
  calls?: AnsweredCall[];
  tokens?: number;
  error?: RunError;
}

interface AnsweredCall {
  tool: string;
  args?: unknown;
  /** Of tools that are run. */
  status?: 'success' | 'failed';
  versions?: FileVersion[];
}

const EVENT_MS = 100;
const DECISIONS_MAX = 20_000;
/** After which a session counts as one that never comes to rest. */
const YEAR = '2027-01-01T00:00:00.000Z';

export class GoalSession {
  state: SessionState;
  readonly events: SessionEvent[];
  /** When each model call began, in seconds since the goal was set. */
  readonly calls: number[] = [];
  readonly #model: (call: number, session: GoalSession) => Answer;
  readonly #results = new Map<string, AnsweredCall>();
  #now: string;
  #set_at = 0;

  constructor(model: (call: number, session: GoalSession) => Answer, budget: number | null = null) {
    this.#model = model;
    this.events = log(created());
    this.state = stateOf(this.events);
    this.#now = this.state.updated_at;
    this.#set_at = Date.parse(this.#now);
    this.act({ do: 'set', objective: 'make it work', budget });
  }

  get goal() {
    const { goal } = this.state;
    if (goal === null) throw new Error('Expected a goal, found none.');
    return goal;
  }

  /** What the user does; refused: what was expected. */
  act(action: GoalAction): string | undefined {
    const event = actOnGoal(this.state.goal, action, 'ada');
    if (isRefusal(event)) return event.expected;
    this.emit(event);
    return undefined;
  }

  emit(body: EventBody, run_id = this.state.run?.run_id): void {
    this.#now = later(this.#now, EVENT_MS);
    const seq = this.state.seq + 1;
    const event = { seq, at: this.#now, ...(run_id === undefined ? {} : { run_id }), ...body };
    this.state = applyEvent(freeze(this.state), freeze(event));
    this.events.push(event);
  }

  /** Plays until so many seconds have passed since the goal was set, or nothing happens by itself any more. */
  play(seconds = Number.POSITIVE_INFINITY): this {
    const end =
      seconds === Number.POSITIVE_INFINITY
        ? YEAR
        : later(new Date(this.#set_at).toISOString(), seconds * 1_000);
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const decision = nextStep(this.state, { history_full: false, now: this.#now });
      if (this.#now >= end) return this;
      if (decision.do === 'wait') {
        if (decision.until === undefined) return this;
        this.#now = decision.until < end ? decision.until : end;
      } else this.#perform(decision);
    }
    throw new Error(`Expected the session to come to rest, found ${DECISIONS_MAX} decisions without it.`);
  }

  #perform(decision: Exclude<Decision, { do: 'wait' }>): void {
    switch (decision.do) {
      case 'start_run': {
        const { do: _, ...start } = decision;
        this.emit({ type: 'run_started', ...start }, runId(this.state.session_id, this.state.run_count + 1));
        break;
      }
      case 'change_goal': {
        const { do: _, ...change } = decision;
        this.emit({ type: 'goal_changed', ...change });
        break;
      }
      case 'load_project':
        this.emit(loaded);
        break;
      case 'call_model':
        this.#callModel(decision);
        break;
      case 'run_tools':
        for (const call of decision.calls) this.#run(call);
        break;
      case 'finish_run':
        this.#finish(decision.status, decision.error);
        break;
      default:
        throw new Error(`Expected no ${decision.do} in this session.`);
    }
  }

  #callModel({ operation_id, through_seq }: Extract<Decision, { do: 'call_model' }>): void {
    this.calls.push((Date.parse(this.#now) - this.#set_at) / 1_000);
    this.emit({ type: 'model_called', operation_id, model: 'm', through_seq });
    const { text = '', calls = [], tokens = 100, error } = this.#model(this.calls.length - 1, this);
    if (error !== undefined) return this.#finish('failed', error);
    const { run } = this.state;
    const named = calls.map((call, index) => {
      const own = operationId(run?.run_id ?? '', run?.step ?? 0, index + 1);
      return { call, ids: { call_id: `call_${own}`, operation_id: own } };
    });
    this.emit({
      type: 'assistant_message',
      operation_id,
      text,
      reasoning: null,
      tool_calls: named.map(({ call, ids }) => ({
        call_id: ids.call_id,
        tool: call.tool,
        arguments: JSON.stringify(call.args ?? {}),
      })),
      finish_reason: 'stop',
      usage: { ...NO_USAGE, input_tokens: tokens },
      context_digest: '',
    });
    for (const { call, ids } of named) this.#accept(call, ids);
  }

  #accept(call: AnsweredCall, ids: { call_id: string; operation_id: string }): void {
    const { tool, args = {} } = call;
    const reads = ['read_file', 'update_plan', 'update_goal'].includes(tool);
    const effect = reads ? 'read' : 'side_effect';
    this.emit({ type: 'tool_call', ...ids, tool, args, effect, target: JSON.stringify(args) });
    const kept = keepCall(this.state, tool, args);
    for (const change of kept?.changes ?? []) this.emit(change);
    if (kept === undefined) this.#results.set(ids.operation_id, call);
    else this.emit({ type: 'tool_result', ...ids, status: kept.status, output: kept.output });
  }

  #run({ call_id, operation_id }: CallState): void {
    const { status = 'success', versions } = this.#results.get(operation_id) ?? {};
    const more = versions === undefined ? {} : { versions };
    this.emit({ type: 'tool_result', call_id, operation_id, status, output: 'ok', ...more });
  }

  #finish(status: 'success' | 'failed' | 'interrupted', error: RunError | null): void {
    const { run } = this.state;
    if (run !== null) this.emit({ type: 'run_finished', status, error, usage: run.usage });
  }
}

/** An answer that says how the goal stands. */
export function goalIs(status: 'active' | 'complete' | 'blocked', note = '', wait_seconds?: number): Answer {
  const wait = wait_seconds === undefined ? {} : { wait_seconds };
  return { calls: [{ tool: 'update_goal', args: { status, note, ...wait } }] };
}

/** An answer that writes a file, with bytes that are named by `version`. */
export function writes(version: string, path = 'a.txt'): Answer {
  return { calls: [{ tool: 'write_file', args: { path, version }, versions: [{ path, version }] }] };
}
