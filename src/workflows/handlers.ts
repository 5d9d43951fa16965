/**
 * Signals and queries of a session. A signal that was buffered before the worker came runs inside
 * `setHandler`, so the machine is whole before `installHandlers` is called. No handler awaits: each signal
 * becomes its events at once and in order.
 */
import { defineQuery, defineSignal, setHandler } from '@temporalio/workflow';
import { describeSession } from '../domain/facts.ts';
import type { SessionFacts } from '../domain/facts.ts';
import { changedSettings } from '../domain/settings.ts';
import { QUERIES } from './contract.ts';
import type {
  DecideSignal,
  EventPage,
  LogPage,
  MessageSignal,
  PageQuery,
  ResolveSignal,
  SessionSignals,
} from './contract.ts';
import type { SessionMachine } from './machine.ts';
import { acceptGoal } from './taskState.ts';

const factsQuery = defineQuery<SessionFacts>(QUERIES.facts);
const eventsQuery = defineQuery<EventPage, [PageQuery]>(QUERIES.events);
const logQuery = defineQuery<LogPage, [PageQuery]>(QUERIES.log);

/** What the loop wants to know of an interrupt: it cancels the activities that run now. */
export interface Interruptible {
  onInterrupt: () => void;
}

/** Installs every handler. */
export function installHandlers(machine: SessionMachine, running: Interruptible): void {
  setHandler(factsQuery, () => describeSession(machine.state));
  setHandler(logQuery, (query) => machine.page(query));
  setHandler(eventsQuery, (query) => {
    const { base: _, archived_at: _at, ...page } = machine.page(query);
    return page;
  });

  on(machine, 'message', (message) => acceptMessage(machine, message));
  on(machine, 'interrupt', ({ by }) => interrupt(machine, running, by));
  on(machine, 'decide', (decision) => decide(machine, decision));
  on(machine, 'resolve', (resolution) => resolve(machine, resolution));
  on(machine, 'rebind', ({ workspace, by }) => {
    machine.emit({ type: 'workspace_rebound', workspace, by });
  });
  on(machine, 'rename', ({ title }) => {
    if (title !== machine.state.title) machine.emit({ type: 'session_renamed', title });
  });
  on(machine, 'goal', (signal) => acceptGoal(machine, signal));
  on(machine, 'configure', ({ settings }) => {
    const next = changedSettings(machine.state.settings, settings);
    if (JSON.stringify(next) !== JSON.stringify(machine.state.settings)) {
      machine.emit({ type: 'settings_changed', settings: next });
    }
  });
  on(machine, 'complete', () => {
    if (machine.state.status === 'active') machine.emit({ type: 'session_completed' });
  });
  on(machine, 'archive', () => {
    if (machine.state.status !== 'archived') machine.emit({ type: 'session_archived' });
  });
  on(machine, 'reopen', () => reopen(machine));
  on(machine, 'compact', ({ by }) => {
    const { compaction_requested, status } = machine.state;
    if (!compaction_requested && status !== 'archived') machine.emit({ type: 'compaction_requested', by });
  });
}

/** Between runs it ends a summary that somebody asked for, and is meant for the run that a goal would begin next. */
function interrupt(machine: SessionMachine, running: Interruptible, by: string): void {
  const { run, compaction_requested } = machine.state;
  if (run === null) {
    if (compaction_requested) running.onInterrupt();
    acceptGoal(machine, { by, action: { do: 'pause' } });
  } else if (run.interrupted_by === null) {
    machine.emit({ type: 'interrupt_requested', by });
    running.onInterrupt();
  }
}

function on<Name extends keyof SessionSignals>(
  machine: SessionMachine,
  name: Name,
  handle: (...args: SessionSignals[Name]) => void,
): void {
  setHandler(defineSignal<SessionSignals[Name]>(name), (...args: SessionSignals[Name]) => {
    machine.signals += 1;
    handle(...args);
  });
}

function resolve(machine: SessionMachine, { call_id, as, note }: ResolveSignal): void {
  const operation = machine.state.uncertain.findLast((candidate) => candidate.call_id === call_id);
  if (operation === undefined) return;
  machine.emit({
    type: 'tool_recovery',
    call_id,
    operation_id: operation.operation_id,
    status: as === 'done' ? 'completed' : 'not_run',
    evidence: note,
    by: 'user',
  });
}

function acceptMessage(machine: SessionMachine, { message_id, text, delivery }: MessageSignal): void {
  if (machine.state.message_ids.includes(message_id)) return;
  reopen(machine);
  machine.emit({ type: 'user_message', message_id, text, delivery });
}

function reopen(machine: SessionMachine): void {
  if (machine.state.status !== 'active') machine.emit({ type: 'session_reopened' });
}

function decide(machine: SessionMachine, { call_id, decision, by, reason }: DecideSignal): void {
  const waiting = (machine.state.run?.calls ?? []).filter(
    (call) => call.status === 'awaiting_approval' && (call_id === null || call.call_id === call_id),
  );
  for (const call of waiting) {
    machine.emit({ type: 'approval_decided', call_id: call.call_id, by, decision, reason });
    if (decision === 'approve') continue;
    const why = reason === '' ? '' : ` Reason: ${reason}`;
    machine.emit({
      type: 'tool_result',
      call_id: call.call_id,
      operation_id: call.operation_id,
      status: 'denied',
      output: `Not run: the user denied this call.${why}`,
    });
  }
}
