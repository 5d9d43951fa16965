/**
 * A reply as Chat Completions sends it: chunks that end with `[DONE]`, or one object.
 * Format: https://platform.openai.com/docs/api-reference/chat-streaming
 */
import type { Usage } from '../domain/model.ts';
import type { ConcreteReply } from './scriptedReply.ts';

/** The server-sent events of a reply. `withUsage`: the client asked for `include_usage`. */
export function chatEvents(reply: ConcreteReply, withUsage: boolean): string[] {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event(reply, { choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  return [
    chunk({ role: 'assistant', content: reply.calls.length > 0 && reply.text === '' ? null : '' }),
    ...reply.reasoningChunks.map((reasoning_content) => chunk({ reasoning_content })),
    ...reply.textChunks.map((content) => chunk({ content })),
    ...reply.calls.flatMap((call, index) => [
      chunk({
        tool_calls: [
          { index, id: call.call_id, type: 'function', function: { name: call.tool, arguments: '' } },
        ],
      }),
      ...call.chunks.map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
    chunk({}, reply.finish),
    ...(withUsage && reply.usage ? [event(reply, { choices: [], usage: chatUsage(reply.usage) })] : []),
    'data: [DONE]\n\n',
  ];
}

/** The whole reply as one object. */
export function chatObject(reply: ConcreteReply): object {
  const tool_calls = reply.calls.map((call) => ({
    id: call.call_id,
    type: 'function',
    function: { name: call.tool, arguments: call.arguments },
  }));
  const message = {
    role: 'assistant',
    content: reply.text === '' && tool_calls.length > 0 ? null : reply.text,
    refusal: null,
    ...(reply.reasoning === '' ? {} : { reasoning_content: reply.reasoning }),
    ...(tool_calls.length > 0 ? { tool_calls } : {}),
  };
  return {
    ...head(reply, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: reply.finish }],
    ...(reply.usage ? { usage: chatUsage(reply.usage) } : {}),
  };
}

function event(reply: ConcreteReply, fields: object): string {
  return `data: ${JSON.stringify({ ...head(reply, 'chat.completion.chunk'), ...fields })}\n\n`;
}

function head(reply: ConcreteReply, object: string): object {
  return {
    id: `chatcmpl-${reply.id}`,
    object,
    created: reply.created,
    model: reply.model,
    service_tier: 'default',
    system_fingerprint: null,
  };
}

function chatUsage(usage: Usage): object {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.input_tokens + usage.output_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_input_tokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  };
}
