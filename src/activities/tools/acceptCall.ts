/** The check of a call as the model wrote it: which tool, with arguments that fit, or why it can't be run. */
import type * as z from 'zod';
import type { AcceptedCall } from '../../domain/event.ts';
import { ARGUMENTS_MAX_BYTES } from '../../domain/limits.ts';
import type { ModelToolCall } from '../../domain/model.ts';
import type { ToolSpec } from './tool.ts';
import { cleanString } from './utf8.ts';
import { targetLine } from './wording.ts';

/** Issues of one call that are named; the rest would follow from them. */
const ISSUES_NAMED = 10;
const PROBLEM_MAX_CHARS = 2_000;
const TOOL_NAME_MAX_CHARS = 128;
/** Of arguments that are no JSON, the end is shown: there it is seen when they were cut off. */
const END_SHOWN_CHARS = 60;

/** Why a call can't be run, in words for the model. */
class Unacceptable extends Error {}

/** Checks a call against its tool. Pure, and never throws: what is wrong is `problem`. */
export function checkCall(
  tools: ReadonlyMap<string, ToolSpec>,
  call: ModelToolCall,
  operation_id: string,
): AcceptedCall {
  const named = { call_id: call.call_id, operation_id, tool: cleanName(call.tool) };
  try {
    const tool = findTool(tools, call);
    const args = parseArguments(tool, call.arguments);
    return { ...named, args, effect: tool.effect(args), target: tool.target(args) };
  } catch (error) {
    const problem = cleanString((error as Error).message.slice(0, PROBLEM_MAX_CHARS));
    return { ...named, args: null, effect: 'read', target: targetLine(call.arguments), problem };
  }
}

/** A name of any length and bytes, as it may stand in events and lists. */
function cleanName(name: string): string {
  return cleanString(name.slice(0, TOOL_NAME_MAX_CHARS));
}

function findTool(tools: ReadonlyMap<string, ToolSpec>, call: ModelToolCall): ToolSpec {
  const tool = tools.get(call.tool);
  if (tool !== undefined) return tool;
  const known = [...tools.keys()].join(', ');
  throw new Unacceptable(
    `There is no tool ${JSON.stringify(cleanName(call.tool))}. Nothing was run. Use one of: ${known}.`,
  );
}

function parseArguments(tool: ToolSpec, text: string): unknown {
  const bytes = Buffer.byteLength(text);
  if (bytes > ARGUMENTS_MAX_BYTES) {
    throw refusal(
      tool,
      `they have ${bytes} bytes, at most ${ARGUMENTS_MAX_BYTES} are taken. Split the work over several calls.`,
    );
  }
  const checked = tool.schema.safeParse(parseJson(tool, text));
  if (!checked.success) throw refusal(tool, issueLines(checked.error));
  const path = illFormedString(checked.data);
  if (path !== undefined) {
    throw refusal(
      tool,
      `${path} has half of a surrogate pair, which is no character. Write the whole character.`,
    );
  }
  return checked.data;
}

/** No text at all stands for no arguments; the schema says whether that will do. */
function parseJson(tool: ToolSpec, text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refusal(
      tool,
      `expected one JSON object, found ${text.length} characters that are no JSON: ${(error as Error).message}. They end with ${JSON.stringify(text.slice(-END_SHOWN_CHARS))}. Send the whole call again.`,
    );
  }
}

function refusal(tool: ToolSpec, why: string): Unacceptable {
  return new Unacceptable(`The arguments of ${tool.name} can't be used, and nothing was run: ${why}`);
}

function issueLines(error: z.ZodError): string {
  const lines = error.issues.slice(0, ISSUES_NAMED).map(({ path, message }) => {
    const place = path.map(String).join('.');
    return `\n- ${place === '' ? 'the whole' : place}: ${message}`;
  });
  return `they do not fit its parameters.${lines.join('')}\nSend the call again with arguments of these names and types.`;
}

/** Where a string is that can't be written as UTF-8. Without recursion: the depth is the model's choice. */
function illFormedString(root: unknown): string | undefined {
  const left: [string, unknown][] = [['the whole', root]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [path, value] = next;
    if (typeof value === 'string' && !value.isWellFormed()) return path;
    if (typeof value !== 'object' || value === null) continue;
    for (const entry of Object.entries(value)) left.push(entry);
  }
  return undefined;
}
