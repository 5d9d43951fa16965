/** What a client says to a session that exists. All of it is accepted durably, also while no worker runs. */
import type { WorkspaceBinding, Delivery } from '../domain/event.ts';
import type { SettingsChange } from '../domain/settings.ts';
import { isSessionId, workflowId } from '../domain/ids.ts';
import type { DecideSignal, GoalSignal, ResolveSignal, SessionSignals } from '../workflows/contract.ts';
import { HoldfastError, sessionNotFound } from './errors.ts';
import { isNotFound } from './grpc.ts';
import { newMessageId } from './ids.ts';
import { checkMessage, checkMessageId } from './message.ts';
import { reopenArchived } from './reopen.ts';
import { isKnown } from './resolve.ts';
import type { Service } from './service.ts';

export interface Message {
  text: string;
  /** Absent: a new one. The same id twice is one message. */
  message_id?: string | undefined;
  /** Absent: `queue`. */
  delivery?: Delivery;
}

/** Sends a message, and opens an archived session again for it. Returns the message's id. */
export async function sendMessage(service: Service, session_id: string, message: Message): Promise<string> {
  checkMessage(message.text);
  const { text, message_id = newMessageId(), delivery = 'queue' } = message;
  checkMessageId(message_id);
  await signalOrReopen(service, session_id, 'message', [{ message_id, text, delivery }]);
  return message_id;
}

/** Opens a completed or archived session again; an active one stays as it is. */
export async function reopen(service: Service, session_id: string): Promise<void> {
  await signalOrReopen(service, session_id, 'reopen', []);
}

/** Ends the current run as `interrupted`. */
export async function interrupt(service: Service, session_id: string, by: string): Promise<void> {
  await signalSession(service, session_id, 'interrupt', [{ by }]);
}

/** Decides the pending approval of one call, or of all when `call_id` is null. */
export async function decide(service: Service, session_id: string, decision: DecideSignal): Promise<void> {
  await signalSession(service, session_id, 'decide', [decision]);
}

/** A person's word on an operation that stayed uncertain; the next model call is told of it. */
export async function resolveOperation(
  service: Service,
  session_id: string,
  resolution: ResolveSignal,
): Promise<void> {
  await signalSession(service, session_id, 'resolve', [resolution]);
}

/** Binds the session to another folder or host. */
export async function rebind(
  service: Service,
  session_id: string,
  workspace: WorkspaceBinding,
  by: string,
): Promise<void> {
  await signalSession(service, session_id, 'rebind', [{ workspace, by }]);
}

export async function rename(service: Service, session_id: string, title: string): Promise<void> {
  await signalSession(service, session_id, 'rename', [{ title }]);
}

/** Changes settings that the session keeps for life otherwise. */
export async function configure(
  service: Service,
  session_id: string,
  settings: SettingsChange,
): Promise<void> {
  await signalSession(service, session_id, 'configure', [{ settings }]);
}

/** Asks for a summary in the place of the older conversation, before the next model call. */
export async function requestCompaction(service: Service, session_id: string, by: string): Promise<void> {
  await signalSession(service, session_id, 'compact', [{ by }]);
}

export async function complete(service: Service, session_id: string): Promise<void> {
  await signalSession(service, session_id, 'complete', []);
}

/** Closes the session's workflow; what it was stays in the archive. An archived one stays as it is. */
export async function archive(service: Service, session_id: string): Promise<void> {
  try {
    await signalSession(service, session_id, 'archive', []);
  } catch (error) {
    if (!(error instanceof HoldfastError && error.code === 'session.archived')) throw error;
  }
}

/** What the user does about the goal; `opens`: an archived session is opened again for it. */
export async function sendGoal(
  service: Service,
  session_id: string,
  signal: GoalSignal,
  opens: boolean,
): Promise<void> {
  if (opens) await signalOrReopen(service, session_id, 'goal', [signal]);
  else await signalSession(service, session_id, 'goal', [signal]);
}

async function signalOrReopen<Name extends 'message' | 'reopen' | 'goal'>(
  service: Service,
  session_id: string,
  name: Name,
  args: SessionSignals[Name],
): Promise<void> {
  try {
    await signalSession(service, session_id, name, args);
  } catch (error) {
    if (!(error instanceof HoldfastError && error.code === 'session.archived')) throw error;
    await reopenArchived(service, session_id, name, args);
  }
}

/** Rejects with `session.archived` when its workflow is closed, with `session.not_found` when there is none. */
async function signalSession<Name extends keyof SessionSignals>(
  service: Service,
  session_id: string,
  name: Name,
  args: SessionSignals[Name],
): Promise<void> {
  if (!isSessionId(session_id)) throw sessionNotFound(session_id);
  const id = workflowId(session_id);
  try {
    await service.call(async (client) => client.workflow.getHandle(id).signal(name, ...args));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    if (!(await isKnown(service, session_id))) throw sessionNotFound(session_id);
    throw new HoldfastError(
      'session.archived',
      `Expected an open session, found ${session_id} archived.`,
      `Open it again with \`holdfast resume ${session_id}\`.`,
    );
  }
}
