import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextMessage } from '../../../src/domain/model.ts';
import { textTokens } from '../../../src/activities/model/tokenizer.ts';
import {
  exceedsTokens,
  messageTokens,
  requestTokens,
  requestTokensAtMost,
  toolTokens,
  type Reader,
} from '../../../src/activities/model/tokens.ts';

const CHAT: Reader = { api: 'chat', base_url: 'http://127.0.0.1:1/v1', model: 'm' };
const RESPONSES: Reader = { api: 'responses', base_url: null, model: 'm' };
const TOOL = { name: 'bash', description: 'runs a command', parameters: { type: 'object' } };

describe('textTokens', () => {
  // By another implementation of the encoding, js-tiktoken 1.0.21.
  test.each([
    ['', 0],
    ['hello world', 2],
    ['Many words map to one token, but some do not: indivisible.', 15],
    ['会话是一个长任务', 6],
    [' '.repeat(80), 2],
    ["const x = await fetch(url, { method: 'POST' });\n\treturn x?.json() ?? null;\n", 22],
  ])('%j has %i tokens', async (text, tokens) => {
    expect(await textTokens(text)).toBe(tokens);
  });

  test('a special token of the model in a text is text', async () => {
    expect(await textTokens('<|endoftext|>')).toBeGreaterThan(1);
    expect(await textTokens('see <|im_start|> here')).toBeGreaterThan(3);
  });

  test.each([
    ['one letter', 'a'.repeat(200_000)],
    ['capitals', 'A'.repeat(200_000)],
    ['a rule', '='.repeat(200_000)],
    ['spaces', ' '.repeat(200_000)],
    ['letters without an end', randomBytes(200_000).toString('hex').replaceAll(/\d/g, 'x').slice(0, 200_000)],
    ['empty lines', '\n'.repeat(200_000)],
  ])('a line of 200,000 characters is counted in seconds: %s', { timeout: 10_000 }, async (_, text) => {
    const tokens = await textTokens(text);
    expect(tokens).toBeGreaterThan(1_000);
    expect(tokens).toBeLessThan(200_000);
  });

  test('lets other work run while it counts', async () => {
    const order: string[] = [];
    const counted = textTokens('some words '.repeat(10_000)).then(() => order.push('counted'));
    setImmediate(() => order.push('other'));
    await counted;
    expect(order).toEqual(['other', 'counted']);
  });

  test('is never more than the bytes of UTF-8', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        expect(await textTokens(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
      }),
    );
  });
});

const CALL = { call_id: 'c1', tool: 'bash', arguments: '{"command":"ls -la"}' };
const MESSAGES: ContextMessage[] = [
  { role: 'system', text: 'You work in a folder. '.repeat(20) },
  { role: 'user', text: 'go' },
  { role: 'assistant', text: 'I look.', reasoning: null, tool_calls: [CALL] },
  { role: 'tool', call_id: 'c1', text: 'a.txt\n'.repeat(100) },
];

describe.each([
  ['chat', CHAT],
  ['responses', RESPONSES],
])('a request in %s', (_, reader) => {
  test('is the sum of its messages and tools', async () => {
    const parts = await Promise.all(MESSAGES.map(async (message) => messageTokens(message, reader)));
    const sum = parts.reduce((total, tokens) => total + tokens, await toolTokens([TOOL]));
    expect(await requestTokens({ ...reader, messages: MESSAGES, tools: [TOOL] })).toBe(sum);
  });

  test('counts the names and arguments of calls, and results', async () => {
    const [bare, called] = await Promise.all(
      [[], [CALL]].map(async (tool_calls) =>
        messageTokens({ role: 'assistant', text: 'I look.', reasoning: null, tool_calls }, reader),
      ),
    );
    const { tool, arguments: args } = CALL;
    expect((called ?? 0) - (bare ?? 0)).toBe(4 + (await textTokens(tool)) + (await textTokens(args)));
    const output = 'a.txt\n'.repeat(100);
    expect(await messageTokens({ role: 'tool', call_id: 'c1', text: output }, reader)).toBe(
      4 + (await textTokens(output)),
    );
  });

  test('exceeds a limit exactly when it has more tokens', async () => {
    const request = { ...reader, messages: MESSAGES, tools: [TOOL] };
    const tokens = await requestTokens(request);
    const most = requestTokensAtMost(request);
    expect(most).toBeGreaterThan(tokens);
    expect(await exceedsTokens(request, tokens - 1)).toBe(true);
    expect(await exceedsTokens(request, tokens)).toBe(false);
    expect(await exceedsTokens(request, most)).toBe(false);
  });

  test('counts the same text once', async () => {
    const text = randomBytes(400_000).toString('base64');
    const messages: ContextMessage[] = [{ role: 'user', text }];
    const first = await timed(async () => requestTokens({ ...reader, messages, tools: [] }));
    const again = await timed(async () => requestTokens({ ...reader, messages: [...messages], tools: [] }));
    expect(again.tokens).toBe(first.tokens);
    expect(again.ms).toBeLessThan(first.ms / 5);
  });
});

async function timed(count: () => Promise<number>): Promise<{ tokens: number; ms: number }> {
  const begun = performance.now();
  const tokens = await count();
  return { tokens, ms: performance.now() - begun };
}

describe('reasoning', () => {
  const encrypted_content = 'QUFB'.repeat(1_000);
  const item = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content };
  const reasoning = { provider: 'openai', model: 'm', items: [item, { type: 'function_call' }] };
  const message: ContextMessage = { role: 'assistant', text: '', reasoning, tool_calls: [CALL] };

  test('counts a token for four bytes of its JSON where it goes back to its maker', async () => {
    const without = await messageTokens({ ...message, reasoning: null }, RESPONSES);
    const bytes = Buffer.byteLength(JSON.stringify(item));
    expect(await messageTokens(message, RESPONSES)).toBe(without + Math.ceil(bytes / 4));
  });

  test('counts nothing for a reader that is not given it', async () => {
    const without = await messageTokens({ ...message, reasoning: null }, RESPONSES);
    expect(await messageTokens(message, { ...RESPONSES, model: 'm2' })).toBe(without);
    expect(await messageTokens(message, { ...RESPONSES, base_url: CHAT.base_url })).toBe(without);
  });

  test('of chat servers counts in the message and in its calls', async () => {
    const items = [{ message: { reasoning_content: 'hm '.repeat(40) } }, { call: 0, fields: { extra: 'x' } }];
    const said: ContextMessage = {
      ...message,
      reasoning: { provider: 'http://127.0.0.1:1', model: 'm', items },
    };
    const without = await messageTokens({ ...said, reasoning: null }, CHAT);
    const bytes = [items[0]?.message, items[1]?.fields].map((fields) =>
      Math.ceil(Buffer.byteLength(JSON.stringify(fields)) / 4),
    );
    expect(await messageTokens(said, CHAT)).toBe(without + bytes.reduce((a, b) => a + b, 0));
  });
});
