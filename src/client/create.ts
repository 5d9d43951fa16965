/** New sessions: the first message makes the workflow, in one call, so neither is there without the other. */
import {
  defineSearchAttributeKey,
  WorkflowIdReusePolicy,
  type SearchAttributePair,
} from '@temporalio/common';
import type { SessionSettings, WorkspaceBinding } from '../domain/event.ts';
import { SESSION_TASK_QUEUE, workflowId } from '../domain/ids.ts';
import { TITLE_MAX_CHARS } from '../domain/limits.ts';
import type { SearchAttributeName } from '../host/searchAttributes.ts';
import {
  SESSION_WORKFLOW,
  type MessageSignal,
  type RollOverThresholds,
  type SessionInput,
} from '../workflows/contract.ts';
import { EXIT, HoldfastError } from './errors.ts';
import { GRPC, grpcCode, grpcDetails, isAlreadyStarted } from './grpc.ts';
import { newMessageId, newSessionId, sessionIdForMessage } from './ids.ts';
import { checkMessage, checkMessageId } from './message.ts';
import { sendMessage } from './send.ts';
import type { Service } from './service.ts';

export interface NewSession {
  user_id: string;
  workspace: WorkspaceBinding;
  settings: SessionSettings;
  /** The first message. */
  text: string;
  /** Absent: the message's first line. */
  title?: string | undefined;
  /** Given: the same id of the same user in the same folder is one session and one message. */
  message_id?: string | undefined;
  roll_over?: RollOverThresholds;
}

/** A message that was accepted durably. */
export interface Sent {
  session_id: string;
  message_id: string;
}

/** Temporal's visibility keeps this much of a keyword on PostgreSQL and MySQL. */
const KEYWORD_MAX_CHARS = 255;

/** Starts a session with its first message. Rejects with a HoldfastError before anything is created. */
export async function createSession(service: Service, session: NewSession): Promise<Sent> {
  checkMessage(session.text);
  const message_id = session.message_id ?? newMessageId();
  checkMessageId(message_id);
  if (session.message_id === undefined) {
    const session_id = newSessionId();
    await start(service, session, { session_id, message_id });
    return { session_id, message_id };
  }
  const session_id = sessionIdForMessage({
    message_id,
    user_id: session.user_id,
    path: session.workspace.path,
  });
  const sent = { session_id, message_id };
  // An archived session has no workflow that could refuse a second one of its id once retention has passed.
  if ((await service.archive.has(session_id)) || !(await started(service, session, sent))) {
    await sendMessage(service, session_id, { text: session.text, message_id });
  }
  return sent;
}

/** A title from a message: its first line that is not empty. */
export function titleOf(text: string): string {
  const line = text
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '');
  return clip(line ?? 'untitled', TITLE_MAX_CHARS);
}

/** False when the session is there already and its workflow is closed. */
async function started(service: Service, session: NewSession, sent: Sent): Promise<boolean> {
  try {
    await start(service, session, sent);
    return true;
  } catch (error) {
    if (isAlreadyStarted(error)) return false;
    throw error;
  }
}

async function start(service: Service, session: NewSession, sent: Sent): Promise<void> {
  const title = clip(session.title ?? titleOf(session.text), TITLE_MAX_CHARS);
  const { user_id, workspace, settings, roll_over } = session;
  const input: SessionInput = {
    kind: 'new',
    session_id: sent.session_id,
    user_id,
    title,
    workspace,
    settings,
    ...(roll_over && { roll_over }),
  };
  const message: MessageSignal = { message_id: sent.message_id, text: session.text, delivery: 'queue' };
  try {
    await service.call(async (client) =>
      client.workflow.signalWithStart(SESSION_WORKFLOW, {
        workflowId: workflowId(sent.session_id),
        taskQueue: SESSION_TASK_QUEUE,
        args: [input],
        signal: 'message',
        signalArgs: [message],
        staticSummary: title,
        typedSearchAttributes: attributesOf(input),
        workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      }),
    );
  } catch (error) {
    throw explain(error, service);
  }
}

function attributesOf(input: Extract<SessionInput, { kind: 'new' }>): SearchAttributePair[] {
  const now = new Date();
  // Until a worker takes the session up, this is all that lists know of it.
  return [
    keyword('HoldfastStatus', 'active'),
    keyword('HoldfastRunState', 'idle'),
    keyword('HoldfastUser', input.user_id),
    keyword('HoldfastWorkspace', input.workspace.path),
    keyword('HoldfastHost', input.workspace.host),
    keyword('HoldfastTitle', input.title),
    { key: defineSearchAttributeKey('HoldfastRuns', 'INT'), value: 0 },
    { key: defineSearchAttributeKey('HoldfastUncertain', 'INT'), value: 0 },
    { key: defineSearchAttributeKey('HoldfastCreatedAt', 'DATETIME'), value: now },
    { key: defineSearchAttributeKey('HoldfastUpdatedAt', 'DATETIME'), value: now },
  ];
}

function keyword(name: SearchAttributeName, value: string): SearchAttributePair {
  return { key: defineSearchAttributeKey(name, 'KEYWORD'), value: clip(value, KEYWORD_MAX_CHARS) };
}

function explain(error: unknown, service: Service): unknown {
  if (grpcCode(error) !== GRPC.invalidArgument) return error;
  return new HoldfastError(
    'service.not_prepared',
    `Expected the namespace ${service.endpoint.namespace} to take a session, found: ${grpcDetails(error)}.`,
    '`holdfast doctor` names what it lacks; `holdfast worker` prepares a namespace when it starts.',
    EXIT.noService,
    error,
  );
}

function clip(text: string, chars: number): string {
  const points = Array.from(text.toWellFormed());
  return points.length <= chars ? points.join('') : `${points.slice(0, chars - 1).join('')}…`;
}
