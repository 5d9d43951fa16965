/** What the next model call of a session would send, for `holdfast context`. Calls no model. */
import type { SessionEvent } from '../domain/event.ts';
import { applyEvent } from '../domain/fold.ts';
import { nextGoalRun } from '../domain/goalStep.ts';
import type { ContextPreview } from '../domain/model.ts';
import type { ActivityDeps } from './deps.ts';
import { requestFor } from './callModel.ts';
import { loadProject } from './loadProject.ts';
import { toChatRequest } from './model/chatWire.ts';
import { toResponsesRequest } from './model/responsesWire.ts';
import type { SessionView } from './sessionLog.ts';
import { contextDigest, wireMessages } from './model/wire.ts';

/** A rough measure: four bytes of JSON a token. */
const BYTES_PER_TOKEN = 4;

/** The activity `previewContext`: as if a run started now, so with the project's instructions of this moment. */
export async function previewContext(
  deps: ActivityDeps,
  input: { session_id: string },
): Promise<ContextPreview> {
  const view = await deps.log.now(input.session_id);
  const project = await loadProject({ workspace: view.state.workspace });
  const { seq, updated_at: at } = view.state;
  const state = applyEvent(view.state, { type: 'project_loaded', seq, at, project });
  const events = withGoalRun({ state, events: view.events });
  const request = requestFor({ state, events }, 'preview');
  const messages = wireMessages(request);
  const tools = (request.api === 'chat' ? toChatRequest(request) : toResponsesRequest(request)).tools ?? [];
  const bytes = Buffer.byteLength(JSON.stringify({ messages, tools }));
  return {
    messages,
    tools,
    digest: contextDigest(request),
    tokens_estimate: Math.ceil(bytes / BYTES_PER_TOKEN),
  };
}

/** Where the next run is one that the goal starts, its words come before the call. */
function withGoalRun({ state, events }: SessionView): SessionEvent[] {
  if (state.run !== null || state.queue.length > 0) return events;
  const next = nextGoalRun(state, state.goal?.next_run_at ?? state.updated_at);
  if (next?.do !== 'start_run') return events;
  const { do: _, ...start } = next;
  return [...events, { type: 'run_started', seq: state.seq + 1, at: state.updated_at, ...start }];
}
