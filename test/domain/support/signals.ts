/** The signals of a simulated session, each as its handler in workflows/handlers.ts treats it. */
import { actOnGoal, goesOn, isRefusal, type GoalAction } from '../../../src/domain/goalActions.ts';
import { changedSettings, type SettingsChange } from '../../../src/domain/settings.ts';
import type { Simulation } from './simulation.ts';

/** Sends one; which, the tape says. */
export function sendSignal(session: Simulation): void {
  const send = session.choose(
    message,
    message,
    message,
    interrupt,
    decide,
    decide,
    resolve,
    configure,
    others,
    goal,
    goal,
  );
  send(session);
}

function message(session: Simulation): void {
  const delivery = session.choose('queue' as const, 'steer' as const);
  // The same message may be sent twice.
  const repeated = session.messages > 0 && session.pick(8) === 7;
  if (!repeated) session.messages += 1;
  const message_id = `m${session.messages}`;
  if (session.state.message_ids.includes(message_id)) return;
  reopen(session);
  session.emit({ type: 'user_message', message_id, text: `message ${message_id}`, delivery });
}

function interrupt(session: Simulation): void {
  const { run, goal } = session.state;
  const pause = actOnGoal(goal, { do: 'pause' }, 'ada');
  if (run === null && !isRefusal(pause)) session.emit(pause);
  if (run !== null && run.interrupted_by === null) session.emit({ type: 'interrupt_requested', by: 'ada' });
}

function decide(session: Simulation): void {
  const decision = session.choose('approve' as const, 'deny' as const);
  const waiting = (session.state.run?.calls ?? []).filter(({ status }) => status === 'awaiting_approval');
  const chosen = session.pick(2) === 0 ? waiting : waiting.slice(0, 1);
  for (const { call_id, operation_id } of chosen) {
    session.emit({ type: 'approval_decided', call_id, by: 'ada', decision, reason: '' });
    if (decision === 'approve') continue;
    session.emit({ type: 'tool_result', call_id, operation_id, status: 'denied', output: 'denied' });
  }
}

function resolve(session: Simulation): void {
  const { uncertain } = session.state;
  const operation = uncertain[session.pick(Math.max(1, uncertain.length))];
  if (operation === undefined) return;
  const { call_id, operation_id } = operation;
  const status = session.choose('completed' as const, 'not_run' as const);
  session.emit({ type: 'tool_recovery', call_id, operation_id, status, evidence: 'I looked.', by: 'user' });
}

function configure(session: Simulation): void {
  const change = session.choose<SettingsChange>(
    { model: 'other' },
    { context_window: 8_192 },
    { context_window: null },
    { approval: 'ask' },
    { approval: 'auto' },
    { approval: 'read-only' },
    { on_interrupt: 'wait' },
    { on_interrupt: 'continue' },
  );
  session.emit({ type: 'settings_changed', settings: changedSettings(session.state.settings, change) });
}

function others(session: Simulation): void {
  const { status, compaction_requested } = session.state;
  const send = session.choose<() => void>(
    () => (session.full = true),
    () => {
      if (!compaction_requested && status !== 'archived')
        session.emit({ type: 'compaction_requested', by: 'ada' });
    },
    () => session.emit({ type: 'session_renamed', title: 'another' }),
    () => {
      if (status === 'active') session.emit({ type: 'session_completed' });
    },
    () => {
      if (status !== 'archived') session.emit({ type: 'session_archived' });
    },
    () => reopen(session),
    () => session.emit({ type: 'workspace_rebound', workspace: { host: 'h2', path: '/w2' }, by: 'ada' }),
  );
  send();
}

/** As `acceptGoal` of workflows/taskState.ts. */
function goal(session: Simulation): void {
  const action = session.choose<GoalAction>(
    { do: 'set', objective: 'reach it', budget: null },
    { do: 'set', objective: 'reach it cheaply', budget: 1 + session.pick(5) },
    { do: 'pause' },
    { do: 'resume' },
    { do: 'clear' },
    { do: 'budget', budget: 1 + session.pick(20) },
  );
  const event = actOnGoal(session.state.goal, action, 'ada');
  if (isRefusal(event)) return;
  if (goesOn(event)) reopen(session);
  session.emit(event);
}

function reopen(session: Simulation): void {
  if (session.state.status !== 'active') session.emit({ type: 'session_reopened' });
}
