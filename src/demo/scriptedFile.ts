/**
 * A script as a JSON file, for an endpoint in a process of its own:
 *
 *   {"conversations": [{"when": "part of the user's message", "steps": [STEP, …]}], "otherwise": [STEP, …]}
 *
 * A STEP is one of `{"say": text}`, `{"call": {"tool", "args"}}`, `{"calls": [{"tool", "args"}, …]}` and
 * `{"fail": {"status", "body"?, "headers"?}}`. The first three may have a `text` and what TurnOptions names.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Script } from './scriptedModel.ts';
import { scriptByText } from './scriptedSteps.ts';
import { callTools, fail, say, type ScriptedTurn } from './scriptedTurns.ts';

/** Reads a script file. Rejects with an error that names the file and what is wrong in it. */
export async function readScriptFile(path: string): Promise<Script> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Error(`Expected a script in JSON in ${path}: ${String(error)}`, { cause: error });
  }
  const result = scriptSchema.safeParse(json);
  if (!result.success) {
    throw new Error(
      `Expected a script in ${path} (form: src/demo/scriptedFile.ts), found: ${z.prettifyError(result.error)}`,
    );
  }
  const { conversations, otherwise } = result.data;
  return scriptByText(
    conversations.map(({ when, steps }) => ({ when, steps: steps.map(toTurn) })),
    otherwise?.map(toTurn),
  );
}

const callSchema = z.strictObject({
  tool: z.string(),
  args: z.unknown(),
  call_id: z.string().exactOptional(),
});

const usageSchema = z.strictObject({
  input_tokens: z.number(),
  cached_input_tokens: z.number().default(0),
  output_tokens: z.number(),
  reasoning_tokens: z.number().default(0),
});

const options = {
  usage: usageSchema.nullable().exactOptional(),
  finish: z.enum(['stop', 'tool_calls', 'length', 'content_filter', 'unknown']).exactOptional(),
  reasoning: z.string().exactOptional(),
  chunk_chars: z.number().int().positive().exactOptional(),
  chunk_delay_ms: z.number().exactOptional(),
  first_byte_ms: z.number().exactOptional(),
  break_after: z.number().int().exactOptional(),
  stall: z.strictObject({ after: z.number().int(), ms: z.number() }).exactOptional(),
  streamed: z.boolean().exactOptional(),
};

const stepSchema = z.union([
  z.strictObject({ say: z.string(), ...options }),
  z.strictObject({ call: callSchema, text: z.string().exactOptional(), ...options }),
  z.strictObject({ calls: z.array(callSchema), text: z.string().exactOptional(), ...options }),
  z.strictObject({
    fail: z.strictObject({
      status: z.number().int(),
      body: z.unknown(),
      headers: z.record(z.string(), z.string()).exactOptional(),
    }),
  }),
]);

const scriptSchema = z.strictObject({
  conversations: z.array(z.strictObject({ when: z.string(), steps: z.array(stepSchema) })).default([]),
  otherwise: z.array(stepSchema).optional(),
});

function toTurn(step: z.infer<typeof stepSchema>): ScriptedTurn {
  if ('fail' in step) return fail(step.fail.status, step.fail.body, step.fail.headers);
  if ('say' in step) {
    const { say: text, ...options } = step;
    return say(text, options);
  }
  if ('call' in step) {
    const { call, ...options } = step;
    return callTools([call], options);
  }
  const { calls, ...rest } = step;
  return callTools(calls, rest);
}
