/**
 * A reply as the Responses API sends it: typed events with a running `sequence_number`, or one object.
 * Format: https://platform.openai.com/docs/api-reference/responses-streaming
 */
import type { Usage } from '../domain/model.ts';
import type { ConcreteReply } from './scriptedReply.ts';

/** An event before it has its number. */
interface ResponsesEvent {
  type: string;
  [field: string]: unknown;
}

/** The server-sent events of a reply. */
export function responsesEvents(reply: ConcreteReply): string[] {
  const items = outputItems(reply);
  const begun = responseObject(reply, 'in_progress', []);
  const events: ResponsesEvent[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap((item, output_index) => item.events(output_index)),
    {
      type: isIncomplete(reply) ? 'response.incomplete' : 'response.completed',
      response: responsesObject(reply),
    },
  ];
  return events.map(
    (event, sequence_number) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  );
}

/** The whole reply as one object. */
export function responsesObject(reply: ConcreteReply): object {
  const items = outputItems(reply).map(({ whole }) => whole);
  return responseObject(reply, isIncomplete(reply) ? 'incomplete' : 'completed', items);
}

interface OutputItem {
  whole: object;
  events: (output_index: number) => ResponsesEvent[];
}

function outputItems(reply: ConcreteReply): OutputItem[] {
  return [
    ...(reply.reasoning === '' ? [] : [reasoningItem(reply)]),
    ...(reply.text === '' ? [] : [messageItem(reply)]),
    ...reply.calls.map((call, index) => callItem(reply, call, index)),
  ];
}

function reasoningItem(reply: ConcreteReply): OutputItem {
  const id = `rs_${reply.id}`;
  const part = { type: 'summary_text', text: reply.reasoning };
  const encrypted_content = Buffer.from(reply.reasoning).toString('base64');
  const whole = { id, type: 'reasoning', summary: [part], encrypted_content };
  return {
    whole,
    events: (output_index) => {
      const place = { item_id: id, output_index, summary_index: 0 };
      return [
        added(output_index, { ...whole, summary: [], encrypted_content: '' }),
        { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
        ...reply.reasoningChunks.map((delta) => ({
          type: 'response.reasoning_summary_text.delta',
          ...place,
          delta,
        })),
        { type: 'response.reasoning_summary_text.done', ...place, text: reply.reasoning },
        { type: 'response.reasoning_summary_part.done', ...place, part },
        done(output_index, whole),
      ];
    },
  };
}

function messageItem(reply: ConcreteReply): OutputItem {
  const id = `msg_${reply.id}`;
  const part = { type: 'output_text', text: reply.text, annotations: [], logprobs: [] };
  const whole = { id, type: 'message', status: 'completed', role: 'assistant', content: [part] };
  return {
    whole,
    events: (output_index) => {
      const place = { item_id: id, output_index, content_index: 0 };
      return [
        added(output_index, { ...whole, status: 'in_progress', content: [] }),
        { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
        ...reply.textChunks.map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
        { type: 'response.output_text.done', ...place, text: reply.text },
        { type: 'response.content_part.done', ...place, part },
        done(output_index, whole),
      ];
    },
  };
}

function callItem(reply: ConcreteReply, call: ConcreteReply['calls'][number], index: number): OutputItem {
  const id = `fc_${reply.id}_${index}`;
  const whole = {
    id,
    type: 'function_call',
    status: 'completed',
    arguments: call.arguments,
    call_id: call.call_id,
    name: call.tool,
  };
  return {
    whole,
    events: (output_index) => {
      const place = { item_id: id, output_index };
      return [
        added(output_index, { ...whole, status: 'in_progress', arguments: '' }),
        ...call.chunks.map((delta) => ({
          type: 'response.function_call_arguments.delta',
          ...place,
          delta,
        })),
        { type: 'response.function_call_arguments.done', ...place, arguments: call.arguments },
        done(output_index, whole),
      ];
    },
  };
}

function added(output_index: number, item: object): ResponsesEvent {
  return { type: 'response.output_item.added', output_index, item };
}

function done(output_index: number, item: object): ResponsesEvent {
  return { type: 'response.output_item.done', output_index, item };
}

function isIncomplete(reply: ConcreteReply): boolean {
  return reply.finish === 'length' || reply.finish === 'content_filter';
}

function responseObject(reply: ConcreteReply, status: string, output: object[]): object {
  const reason = reply.finish === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    id: `resp_${reply.id}`,
    object: 'response',
    created_at: reply.created,
    status,
    background: false,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    instructions: null,
    model: reply.model,
    output,
    parallel_tool_calls: true,
    store: false,
    usage: status === 'in_progress' || reply.usage === null ? null : responsesUsage(reply.usage),
  };
}

function responsesUsage(usage: Usage): object {
  return {
    input_tokens: usage.input_tokens,
    input_tokens_details: { cached_tokens: usage.cached_input_tokens },
    output_tokens: usage.output_tokens,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
    total_tokens: usage.input_tokens + usage.output_tokens,
  };
}
