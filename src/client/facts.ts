/** What is known of a session: from its workflow, or, when no worker answers, from visibility and archive. */
import { workflowId } from '../domain/ids.ts';
import { describeSession, type SessionFacts } from '../domain/facts.ts';
import { upgradeState } from '../domain/upgrade.ts';
import type { RunStateName, SessionStatus } from '../domain/session.ts';
import { QUERIES } from '../workflows/contract.ts';
import { attributesOfExecution } from './attributes.ts';
import { EXIT, HoldfastError, noWorker, sessionNotFound } from './errors.ts';
import { isNotFound } from './grpc.ts';
import { ask, type AskOptions } from './query.ts';
import type { Service } from './service.ts';

/**
 * `partial`: nobody could be asked, so this is what visibility and the archive know; the rest is as old as
 * the archive's last segment, or empty.
 */
export type KnownFacts = SessionFacts & { partial?: true };

/** The facts. Rejects with `session.not_found`, or exit code 4 when the service can't be reached. */
export async function facts(
  service: Service,
  session_id: string,
  options: AskOptions = {},
): Promise<KnownFacts> {
  try {
    return await ask(service, session_id, QUERIES.facts, [], options);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    if (error.code === 'worker.none') return partialFacts(service, session_id, error);
    if (error.code === 'session.not_found') return archivedFacts(service, session_id);
    throw error;
  }
}

/** Only of the archive: Temporal has forgotten the workflow. */
async function archivedFacts(service: Service, session_id: string): Promise<KnownFacts> {
  const last = await service.archive.last(session_id);
  if (last === undefined) throw sessionNotFound(session_id);
  return describeSession(upgradeState(last.state));
}

async function partialFacts(service: Service, session_id: string, cause: Error): Promise<KnownFacts> {
  const last = await service.archive.last(session_id);
  const seen = await describe(service, session_id);
  if (seen === undefined && last === undefined) throw noWorker(session_id, cause);
  const archived = last === undefined ? undefined : describeSession(upgradeState(last.state));
  return { ...emptyFacts(session_id), ...archived, ...seen, partial: true };
}

async function describe(service: Service, session_id: string): Promise<Partial<SessionFacts> | undefined> {
  try {
    const execution = await service.call(async (client) =>
      client.workflow.getHandle(workflowId(session_id)).describe(),
    );
    const seen = attributesOfExecution(execution.raw.workflowExecutionInfo?.searchAttributes?.indexedFields);
    return {
      user_id: seen.user,
      title: seen.title,
      status: seen.status as SessionStatus,
      run_state: seen.run_state as RunStateName,
      workspace: { host: seen.host, path: seen.workspace },
      run_count: seen.runs,
      created_at: seen.created_at,
      updated_at: seen.updated_at,
    };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (error instanceof HoldfastError && error.exitCode === EXIT.noService) throw error;
    return undefined;
  }
}

function emptyFacts(session_id: string): SessionFacts {
  const no_usage = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, reasoning_tokens: 0 };
  return {
    session_id,
    user_id: '',
    title: '',
    status: 'active',
    run_state: 'idle',
    workspace: { host: '', path: '' },
    settings: { model: '', api: 'responses', base_url: null, approval: 'ask', on_interrupt: 'continue' },
    created_at: '',
    updated_at: '',
    runs: [],
    run_count: 0,
    queued: 0,
    uncertain: [],
    pending_approvals: [],
    current_calls: [],
    goal: null,
    plan: null,
    usage: no_usage,
    context: { tokens: 0, window: 0, summary_through_seq: null, compactions: 0, compacting: false },
    last_seq: 0,
  };
}
