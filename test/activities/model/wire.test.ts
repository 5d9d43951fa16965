import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ContextMessage, OpaqueReasoning } from '../../../src/domain/model.ts';
import { toChatRequest } from '../../../src/activities/model/chatWire.ts';
import { providerId } from '../../../src/activities/model/provider.ts';
import { toResponsesRequest } from '../../../src/activities/model/responsesWire.ts';
import { contextDigest, wireMessages } from '../../../src/activities/model/wire.ts';
import { wireArguments, wireToolName } from '../../../src/activities/model/wireCall.ts';

const TOOL = { name: 'bash', description: 'runs', parameters: { type: 'object' } };

function assistant(
  changes: Partial<Extract<ContextMessage, { role: 'assistant' }>> = {},
): Extract<ContextMessage, { role: 'assistant' }> {
  return {
    role: 'assistant',
    text: '',
    reasoning: null,
    tool_calls: [{ call_id: 'c1', tool: 'bash', arguments: '{"command":"ls"}' }],
    ...changes,
  };
}

function input(messages: ContextMessage[], base_url: string | null = null, model = 'm') {
  return { base_url, model, messages, tools: [TOOL] };
}

const CONVERSATION: ContextMessage[] = [
  { role: 'system', text: 'be brief' },
  { role: 'user', text: 'go' },
  assistant({ text: 'I look.' }),
  { role: 'tool', call_id: 'c1', text: 'a.txt' },
];

describe('chat request', () => {
  test('carries the conversation, the tools and a wish for usage', () => {
    expect(toChatRequest(input(CONVERSATION))).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: TOOL }],
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
      ],
    });
  });

  test('sends no empty list of tools and no empty assistant message', () => {
    const request = toChatRequest({ ...input([assistant({ tool_calls: [] })]), tools: [] });
    expect(request).not.toHaveProperty('tools');
    expect(request.messages).toEqual([]);
  });

  test('bounds the output by the parameter that the server knows', () => {
    const limit = { max_output_tokens: 5 };
    expect(toChatRequest({ ...input([]), ...limit })).toMatchObject({ max_completion_tokens: 5 });
    expect(toChatRequest({ ...input([], 'http://localhost:1/v1'), ...limit })).toMatchObject({
      max_tokens: 5,
    });
  });

  const reasoning: OpaqueReasoning = {
    provider: 'https://api.deepseek.com',
    model: 'm',
    items: [{ message: { reasoning_content: 'hm' } }, { call: 0, fields: { extra_content: { signed: 1 } } }],
  };

  test('gives reasoning back to its maker, in the fields it came in, within the turn', () => {
    const [, message] = toChatRequest(
      input([{ role: 'user', text: 'go' }, assistant({ reasoning })], 'https://api.deepseek.com/v1'),
    ).messages;
    expect(message).toMatchObject({
      reasoning_content: 'hm',
      tool_calls: [{ id: 'c1', extra_content: { signed: 1 } }],
    });
  });

  test.each([
    ['another provider', 'https://openrouter.ai/api/v1', 'm', false],
    ['another model', 'https://api.deepseek.com/v1', 'm2', false],
    ['a later turn', 'https://api.deepseek.com/v1', 'm', true],
  ])('strips reasoning for %s', (_, base_url, model, later) => {
    const messages: ContextMessage[] = [assistant({ reasoning }), { role: 'tool', call_id: 'c1', text: '' }];
    const next: ContextMessage[] = later ? [{ role: 'user', text: 'go on' }] : [];
    const body = JSON.stringify(toChatRequest(input([...messages, ...next], base_url, model)));
    expect(body).not.toMatch(/reasoning|signed/);
  });
});

describe('responses request', () => {
  test('carries the conversation, stores nothing and asks for encrypted reasoning', () => {
    expect(toResponsesRequest(input(CONVERSATION))).toEqual({
      model: 'm',
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      tools: [{ type: 'function', ...TOOL, strict: false }],
      input: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'go' },
        { role: 'assistant', content: 'I look.' },
        { type: 'function_call', call_id: 'c1', name: 'bash', arguments: '{"command":"ls"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'a.txt' },
      ],
    });
  });

  const first = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'AAA' };
  const second = { ...first, id: 'rs_2', encrypted_content: 'BBB' };
  const reasoning: OpaqueReasoning = {
    provider: 'openai',
    model: 'm',
    items: [first, { type: 'message', chars: 7, phase: 'commentary' }, second, { type: 'function_call' }],
  };

  test('gives reasoning back unchanged and in its place', () => {
    expect(wireMessages({ api: 'responses', ...input([assistant({ text: 'I look.', reasoning })]) })).toEqual(
      [
        first,
        { role: 'assistant', content: 'I look.', phase: 'commentary' },
        second,
        { type: 'function_call', call_id: 'c1', name: 'bash', arguments: '{"command":"ls"}' },
      ],
    );
  });

  test('sends text and calls that the reasoning does not know of, and no reasoning that nothing follows', () => {
    const dangling = { ...reasoning, items: [first, { type: 'message', chars: 7 }, second] };
    const message = assistant({ text: 'I look. Twice.', reasoning: dangling, tool_calls: [] });
    expect(toResponsesRequest(input([message])).input).toEqual([
      first,
      { role: 'assistant', content: 'I look.' },
      second,
      { role: 'assistant', content: ' Twice.' },
    ]);
    const only = assistant({ reasoning: { ...reasoning, items: [first] }, tool_calls: [] });
    expect(toResponsesRequest(input([only])).input).toEqual([]);
  });

  test('leaves out reasoning without its content: nobody has stored it', () => {
    const bare = { ...reasoning, items: [{ id: 'rs_1', type: 'reasoning', summary: [] }] };
    expect(JSON.stringify(toResponsesRequest(input([assistant({ reasoning: bare })])).input)).not.toContain(
      'rs_1',
    );
  });

  test.each([
    ['another provider', 'http://127.0.0.1:8080/v1', 'm'],
    ['another model', null, 'm2'],
  ])('strips reasoning for %s', (_, base_url, model) => {
    const items = wireMessages({
      api: 'responses',
      ...input([assistant({ text: 'I look.', reasoning })], base_url, model),
    });
    expect(items).toEqual([
      { role: 'assistant', content: 'I look.' },
      { type: 'function_call', call_id: 'c1', name: 'bash', arguments: '{"command":"ls"}' },
    ]);
  });
});

describe('a conversation that went over other models', () => {
  const ENCRYPTED = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'AAA' };
  const A = { base_url: null, model: 'm' };
  const B = { base_url: 'http://127.0.0.1:1/v1', model: 'm' };
  const messages: ContextMessage[] = [
    { role: 'user', text: 'go' },
    assistant({
      reasoning: { provider: 'openai', model: 'm', items: [ENCRYPTED, { type: 'function_call' }] },
      tool_calls: [{ call_id: 'a1', tool: 'bash', arguments: '{}' }],
    }),
    { role: 'tool', call_id: 'a1', text: 'one' },
    assistant({
      reasoning: {
        provider: 'http://127.0.0.1:1',
        model: 'm',
        items: [{ message: { reasoning_content: 'BBB' } }],
      },
      tool_calls: [{ call_id: 'b1', tool: 'bash', arguments: '{}' }],
    }),
    { role: 'tool', call_id: 'b1', text: 'two' },
  ];
  const sent = (api: 'chat' | 'responses', to: { base_url: string | null; model: string }): string =>
    JSON.stringify(wireMessages({ api, ...to, messages, tools: [] }));

  test.each([
    ['the first, by its protocol', 'responses', A, ['AAA']],
    ['the second, by its protocol', 'chat', B, ['BBB']],
    ['the first, in a protocol that has no place for it', 'chat', A, []],
    ['the second, in a protocol that has no place for it', 'responses', B, []],
    ['another model of the first provider', 'responses', { ...A, model: 'm2' }, []],
    ['another model of the second provider', 'chat', { ...B, model: 'm2' }, []],
    ['a third provider with a model of that name', 'responses', { ...B, base_url: 'http://[::1]:1/v1' }, []],
    ['a third provider in chat', 'chat', { ...B, base_url: 'http://127.0.0.1:2/v1' }, []],
  ] as const)('gives back what %s thought, and nothing of others', (_, api, to, thoughts) => {
    expect(['AAA', 'BBB'].filter((thought) => sent(api, to).includes(thought))).toEqual(thoughts);
  });

  test.each(['chat', 'responses'] as const)(
    'is the same but for that in %s: every call and result',
    (api) => {
      const bare = messages.map((message) =>
        message.role === 'assistant' ? { ...message, reasoning: null } : message,
      );
      const third = wireMessages({ api, base_url: 'http://127.0.0.1:3/v1', model: 'x', messages, tools: [] });
      expect(third).toEqual(wireMessages({ api, ...A, messages: bare, tools: [] }));
    },
  );

  test('gives nothing back twice, and refers to nothing that a provider has stored', () => {
    const body = toResponsesRequest({ ...A, messages, tools: [] });
    expect(JSON.stringify(body).split('AAA')).toHaveLength(2);
    expect(body).not.toHaveProperty('previous_response_id');
    expect(body.store).toBe(false);
  });
});

describe('what goes back of odd calls', () => {
  test.each([
    ['{"a":1}', '{"a":1}'],
    ['{"a":', '{"malformed_arguments":"{\\"a\\":"}'],
    ['[1]', '{"malformed_arguments":"[1]"}'],
    ['"\uD800', '{"malformed_arguments":"\\"\uFFFD"}'],
  ])('the arguments %j are sent as %s', (text, sent) => {
    expect(wireArguments(text)).toBe(sent);
  });

  test.each([
    ['bash', 'bash'],
    ['', 'unnamed_tool'],
    ['no such/tool', 'no_such_tool'],
    ['x'.repeat(100), 'x'.repeat(64)],
  ])('the name %j is sent as %s', (name, sent) => {
    expect(wireToolName(name)).toBe(sent);
  });
});

test('an overlong call id is replaced alike in the call and in its result', () => {
  const call_id = 'x'.repeat(41);
  const messages: ContextMessage[] = [
    assistant({ tool_calls: [{ call_id, tool: 'bash', arguments: '{}' }] }),
    { role: 'tool', call_id, text: '' },
  ];
  const [call, result] = toResponsesRequest(input(messages)).input as { call_id: string }[];
  expect(call?.call_id).toMatch(/^call_[0-9a-f]{35}$/);
  expect(result?.call_id).toBe(call?.call_id);
  expect(JSON.stringify(toChatRequest(input(messages)).messages)).not.toContain(call_id);
});

test('the digest is that of the messages as they are sent', () => {
  const request = { api: 'chat' as const, ...input(CONVERSATION) };
  const json = JSON.stringify(toChatRequest(request).messages);
  expect(contextDigest(request)).toBe(createHash('sha256').update(json).digest('hex'));
  expect(contextDigest({ ...request, api: 'responses' })).not.toBe(contextDigest(request));
});

test('lone surrogates and NUL are not sent', () => {
  const messages: ContextMessage[] = [{ role: 'user', text: 'a\uD83Db\0c' }];
  for (const api of ['chat', 'responses'] as const) {
    expect(wireMessages({ api, ...input(messages) })).toEqual([{ role: 'user', content: 'a\uFFFDb\uFFFDc' }]);
  }
});

test('a provider is known by its origin', () => {
  expect(providerId(null)).toBe('openai');
  expect(providerId('https://api.openai.com/v1/')).toBe('openai');
  expect(providerId('http://127.0.0.1:8080/v1')).toBe('http://127.0.0.1:8080');
});
