/** The activities of a worker, bound to what they need. */
import { archiveSegment } from './archiveSegment.ts';
import { callModel } from './callModel.ts';
import type { HostActivities, ModelActivities } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeat } from './heartbeat.ts';
import { loadProject } from './loadProject.ts';
import { previewContext } from './previewContext.ts';
import { attachTool, reconcileTool, runTool } from './runTool.ts';
import { summarize } from './summarize.ts';

/** For the task queue `holdfast`. */
export function createModelActivities(deps: ActivityDeps): ModelActivities {
  return {
    callModel: async (input) => callModel(deps, input),
    summarize: async (input) => summarize(deps, input),
  };
}

/** For the task queue of this host. */
export function createHostActivities(deps: ActivityDeps): HostActivities {
  return {
    loadProject: async (input) => withHeartbeat(async () => loadProject(input)),
    runTool: async (input) => runTool(deps, input),
    reconcileTool: async (input) => withHeartbeat(async () => reconcileTool(deps, input)),
    attachTool: async (input) => attachTool(deps, input),
    archiveSegment: async (input) => withHeartbeat(async () => archiveSegment(deps, input)),
    previewContext: async (input) => previewContext(deps, input),
  };
}
