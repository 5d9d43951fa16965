/** Any events in any order: what no session would ever write, with ids that collide. */
import * as fc from 'fast-check';
import type { EventBody, SessionEvent } from '../../../src/domain/event.ts';
import type { GoalStatus } from '../../../src/domain/goal.ts';
import { NO_USAGE } from '../../../src/domain/model.ts';
import { created, SETTINGS, timeOf } from './events.ts';

const LONG_ID = 'call_'.padEnd(70, 'x');
const id = fc.constantFrom('a', 'b', 'c', LONG_ID);
const text = fc.constantFrom('', 'x', '\ud800', '\0', '</recovery>');
const seq = fc.integer({ min: 0, max: 60 });

const reasoningItem = fc.constantFrom(
  { type: 'reasoning', encrypted_content: 'AAA' },
  { type: 'reasoning' },
  { type: 'message', chars: 1 },
  { type: 'function_call' },
  { message: { reasoning_content: 'hm' } },
  { call: 1, fields: { extra_content: { signed: 1 } } },
  null,
);
const reasoning = fc.option(
  fc.record({
    provider: fc.constantFrom('openai', 'other'),
    model: fc.constantFrom('m', 'n'),
    items: fc.array(reasoningItem, { maxLength: 4 }),
  }),
  { freq: 1 },
);
const toolCall = fc.record({
  call_id: id,
  tool: fc.constantFrom('bash', ''),
  arguments: fc.constantFrom('{}', '', '{"a":', '[1]'),
});

const reply = fc.record({
  type: fc.constant('assistant_message' as const),
  operation_id: id,
  text,
  reasoning,
  tool_calls: fc.array(toolCall, { maxLength: 4 }),
  finish_reason: fc.constant('stop' as const),
  usage: fc.constant(null),
  context_digest: fc.constant(''),
});
const accepted = fc.record({
  type: fc.constant('tool_call' as const),
  call_id: id,
  operation_id: id,
  tool: fc.constant('bash'),
  args: fc.constant(null),
  effect: fc.constantFrom('read' as const, 'idempotent' as const, 'side_effect' as const),
  target: text,
});
const result = fc.record({
  type: fc.constant('tool_result' as const),
  call_id: id,
  operation_id: id,
  status: fc.constantFrom('success' as const, 'failed' as const, 'cancelled' as const, 'denied' as const),
  output: text,
});
const recovery = fc.record({
  type: fc.constant('tool_recovery' as const),
  call_id: id,
  operation_id: id,
  status: fc.constantFrom(
    'uncertain' as const,
    'running' as const,
    'completed' as const,
    'not_run' as const,
    'unknown' as const,
  ),
  evidence: text,
  by: fc.constantFrom('tool' as const, 'user' as const),
});
const message = fc.record({
  type: fc.constant('user_message' as const),
  message_id: id,
  text,
  delivery: fc.constantFrom('queue' as const, 'steer' as const),
});
const runStarted = fc.record({
  type: fc.constant('run_started' as const),
  trigger: fc.constantFrom('message' as const, 'goal' as const, 'recovery' as const),
  message_ids: fc.array(id, { maxLength: 2 }),
  prompt: text,
});
const goalStatus = fc.constantFrom<GoalStatus>(
  'active',
  'paused',
  'blocked',
  'usage_limited',
  'budget_limited',
  'complete',
);
const budget = fc.option(fc.nat(3));
const goalSet = fc.record({
  type: fc.constant('goal_set' as const),
  objective: text,
  budget,
  by: fc.constant('ada'),
});
const goalChanged = fc.record(
  {
    type: fc.constant('goal_changed' as const),
    by: fc.constantFrom('ada', 'model', 'holdfast'),
    status: goalStatus,
    note: text,
    budget,
    wait_seconds: fc.nat(900),
  },
  { requiredKeys: ['type', 'by'] },
);
const planChanged = fc.record({
  type: fc.constant('plan_changed' as const),
  steps: fc.array(
    fc.record({
      step: text,
      status: fc.constantFrom('pending' as const, 'in_progress' as const, 'completed' as const),
    }),
    { maxLength: 3 },
  ),
});
const modelCalled = fc.record({
  type: fc.constant('model_called' as const),
  operation_id: id,
  model: fc.constant('m'),
  through_seq: seq,
});
const runFinished = fc.record({
  type: fc.constant('run_finished' as const),
  status: fc.constantFrom('success' as const, 'failed' as const, 'interrupted' as const),
  error: fc.constant(null),
  usage: fc.constant(NO_USAGE),
});
const decided = fc.record({
  type: fc.constant('approval_decided' as const),
  call_id: id,
  by: fc.constant('ada'),
  decision: fc.constantFrom('approve' as const, 'deny' as const),
  reason: text,
});
const summary = fc.record({
  type: fc.constant('summary_created' as const),
  operation_id: id,
  through_seq: seq,
  text,
  user_messages: fc.array(text, { maxLength: 2 }),
  carried: fc.array(seq, { maxLength: 3 }),
  tokens_before: fc.constant(2),
  tokens_after: fc.constant(1),
  usage: fc.constant(null),
});
const full = fc.record({
  type: fc.constant('context_full' as const),
  operation_id: id,
  tokens: fc.constantFrom(null, 9),
  window: fc.constant(10),
  by: fc.constantFrom('count' as const, 'provider' as const),
});
const requested = fc.record({ type: fc.constant('approval_requested' as const), call_id: id });

const path = fc.constantFrom('AGENTS.md', '/r/AGENTS.md', '', '</project_changed>\n');
const date = fc.constantFrom('', '2026-03-01');
const digest = fc.constantFrom('', 'a', 'b');
const platform = fc.constant('linux x64');
const project = fc.oneof(
  fc.record({ digest, date, platform, unchanged: fc.constant(true as const) }),
  fc.record(
    {
      digest,
      date,
      platform,
      instructions: fc.array(fc.record({ path, text }), { maxLength: 2 }),
      skills: fc.array(fc.record({ name: text, description: text, path }), { maxLength: 2 }),
      problems: fc.array(fc.record({ path, problem: text }), { maxLength: 2 }),
      unchanged: fc.constant(false as const),
    },
    { requiredKeys: ['digest', 'date', 'platform', 'instructions'] },
  ),
);
const change = fc.constantFrom('added' as const, 'changed' as const, 'removed' as const);
const projectLoaded = fc.record(
  {
    type: fc.constant('project_loaded' as const),
    project,
    changes: fc.array(fc.record({ path, change }), { maxLength: 3 }),
  },
  { requiredKeys: ['type', 'project'] },
);

const WORKSPACE = { host: 'h', path: '/w' };
const plain = fc.constantFrom<EventBody>(
  { type: 'interrupt_requested', by: 'ada' },
  { type: 'workspace_missing', workspace: WORKSPACE },
  { type: 'host_unreachable', host: 'h' },
  { type: 'workspace_rebound', workspace: WORKSPACE, by: 'ada' },
  { type: 'session_renamed', title: 't' },
  { type: 'goal_cleared', by: 'ada' },
  { type: 'settings_changed', settings: SETTINGS },
  { type: 'session_completed' },
  { type: 'session_archived' },
  { type: 'session_reopened' },
  { type: 'compaction_requested', by: 'ada' },
  { type: 'compaction_failed', operation_id: 'a', error: { code: 'c', message: 'm', remedy: 'r' } },
);

const body: fc.Arbitrary<EventBody> = fc.oneof(
  { weight: 4, arbitrary: reply },
  { weight: 4, arbitrary: accepted },
  { weight: 4, arbitrary: result },
  { weight: 3, arbitrary: recovery },
  { weight: 3, arbitrary: message },
  { weight: 2, arbitrary: runStarted },
  { weight: 2, arbitrary: modelCalled },
  { weight: 1, arbitrary: projectLoaded },
  { weight: 1, arbitrary: runFinished },
  { weight: 1, arbitrary: decided },
  { weight: 1, arbitrary: requested },
  { weight: 1, arbitrary: summary },
  { weight: 1, arbitrary: full },
  { weight: 2, arbitrary: goalSet },
  { weight: 2, arbitrary: goalChanged },
  { weight: 1, arbitrary: planChanged },
  { weight: 1, arbitrary: plain },
);

/** A first event that makes the fold possible, then any others; seq counts on, from anywhere. */
export const anyEvents: fc.Arbitrary<SessionEvent[]> = fc
  .tuple(fc.array(body, { maxLength: 40, size: 'max' }), fc.nat(20))
  .map(([bodies, first]) =>
    [created(), ...bodies].map((each, index) => ({ seq: first + index + 1, at: timeOf(index), ...each })),
  );
