/** What the next model call of a session would send, for `holdfast context`. Calls no model. */
import type { SessionEvent } from '../domain/event.ts';
import { applyEvent } from '../domain/fold.ts';
import { nextGoalRun } from '../domain/goalStep.ts';
import type { ContextPreview } from '../domain/model.ts';
import { projectChanges } from '../domain/projectChanges.ts';
import type { ActivityDeps } from './deps.ts';
import { requestFor } from './callModel.ts';
import { readProject } from './loadProject.ts';
import { toChatRequest } from './model/chatWire.ts';
import { toResponsesRequest } from './model/responsesWire.ts';
import type { ContextView } from './log/archivedContext.ts';
import { requestTokens } from './model/tokens.ts';
import { contextDigest, wireMessages } from './model/wire.ts';

/** The activity `previewContext`: as if a run started now, so with the project's instructions of this moment. */
export async function previewContext(
  deps: ActivityDeps,
  input: { session_id: string },
): Promise<ContextPreview> {
  const view = await deps.log.contextNow(input.session_id);
  const project = await readProject(view.state.workspace.path);
  const { seq, updated_at: at } = view.state;
  const changes = projectChanges(view.state.project, { ...project, unchanged: false });
  const event: SessionEvent = { type: 'project_loaded', seq, at, project, changes };
  const state = applyEvent(view.state, event);
  // A run that is under way has had its look at the project; the next one tells what is new.
  const events = view.state.run === null ? [...withGoalRun({ ...view, state }), event] : view.events;
  const request = requestFor({ state, events, lost: view.lost }, 'preview');
  const messages = wireMessages(request);
  const tools = (request.api === 'chat' ? toChatRequest(request) : toResponsesRequest(request)).tools ?? [];
  return {
    messages,
    tools,
    digest: contextDigest(request),
    tokens_estimate: await requestTokens(request),
  };
}

/** Where the next run is one that the goal starts, its words come before the call. */
function withGoalRun({ state, events }: Pick<ContextView, 'state' | 'events'>): SessionEvent[] {
  if (state.run !== null || state.queue.length > 0) return events;
  const next = nextGoalRun(state, state.goal?.next_run_at ?? state.updated_at);
  if (next?.do !== 'start_run') return events;
  const { do: _, ...start } = next;
  return [...events, { type: 'run_started', seq: state.seq + 1, at: state.updated_at, ...start }];
}
