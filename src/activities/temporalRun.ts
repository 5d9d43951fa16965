/** Which Temporal run of a session asks. */
import { Context } from '@temporalio/activity';

/** Its id; undefined for an activity without a workflow. Continue-as-new begins another run, and so does a reset. */
export function temporalRun(): string | undefined {
  return Context.current().info.workflowExecution?.runId;
}
