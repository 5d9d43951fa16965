/** All tools by name, as the model is told of them, and the check of what it asks for. */
import * as z from 'zod';
import type { AcceptedCall } from '../../domain/event.ts';
import type { ModelToolCall, ToolDefinition } from '../../domain/model.ts';
import { checkCall } from './acceptCall.ts';
import { applyPatch } from './applyPatch.ts';
import { bash } from './bash.ts';
import { editFile } from './editFile.ts';
import { gitCommit } from './gitCommit.ts';
import { gitStatus } from './gitStatus.ts';
import { httpRequest } from './httpRequest.ts';
import { jobOutput } from './jobOutput.ts';
import { jobStatus } from './jobStatus.ts';
import { jobStop } from './jobStop.ts';
import { listFiles } from './listFiles.ts';
import { readFile } from './readFile.ts';
import { readOutput } from './readOutput.ts';
import { search } from './search.ts';
import type { Tool, ToolSpec } from './tool.ts';
import { updateGoal } from './updateGoal.ts';
import { updatePlan } from './updatePlan.ts';
import { writeFile } from './writeFile.ts';

/** Every tool that activities run, in the order in which the model reads of them. */
export const TOOLS: ReadonlyMap<string, Tool> = new Map(
  [
    readFile,
    listFiles,
    search,
    readOutput,
    writeFile,
    editFile,
    applyPatch,
    bash,
    jobStatus,
    jobOutput,
    jobStop,
    gitStatus,
    gitCommit,
    httpRequest,
  ].map((tool) => [tool.name, tool]),
);

/** What the model is offered: these, and the tools that the session's workflow keeps. */
const OFFERED: ReadonlyMap<string, ToolSpec> = new Map<string, ToolSpec>([
  ...TOOLS,
  ...[updatePlan, updateGoal].map((tool): [string, ToolSpec] => [tool.name, tool]),
]);

/** The tools for a model request. `parameters` is plain JSON Schema that both OpenAI protocols take. */
export function toolDefinitions(): ToolDefinition[] {
  return [...OFFERED.values()].map(({ name, description, schema }) => ({
    name,
    description,
    parameters: parametersOf(schema),
  }));
}

/**
 * A model's call, checked: with parsed arguments, or with a `problem` that says what was expected, what was
 * found and what to do, and then of effect `read`, since it does nothing. Pure, and never throws.
 */
export function acceptCall(call: ModelToolCall, operation_id: string): AcceptedCall {
  return checkCall(OFFERED, call, operation_id);
}

function parametersOf(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, {
    // What the model writes: arguments with a default may be left out.
    io: 'input',
    override: ({ jsonSchema }) => {
      // zod bounds every integer; these say nothing to a model.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return parameters;
}
