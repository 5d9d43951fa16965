import { afterEach, describe, expect, test } from 'vitest';
import { callProvider } from '../../../src/activities/model/callProvider.ts';
import { startScriptedModel, type ScriptedModel } from '../../../src/demo/scriptedModel.ts';
import {
  breakStream,
  callTool,
  callTools,
  fail,
  rawChunks,
  say,
  stall,
  type ScriptedTurn,
} from '../../../src/demo/scriptedTurns.ts';
import { APIS, callAndWatch, chunk, failureOf, quietly, requestTo, sse } from './support.ts';

let model: ScriptedModel | undefined;

afterEach(async () => {
  await model?.close();
  model = undefined;
});

async function serve(...turns: ScriptedTurn[]): Promise<ScriptedModel> {
  model = await startScriptedModel({ script: (_, index) => turns[index] ?? fail(599) });
  return model;
}

describe.each(APIS)('a call by %s', (api) => {
  const usage = { input_tokens: 9, cached_input_tokens: 4, output_tokens: 3, reasoning_tokens: 1 };

  test('streams text and reasoning, and gives the whole reply', async () => {
    const text = 'Grüße 😀 — 漢字';
    const { url, requests } = await serve(say(text, { reasoning: 'I think.', chunk_chars: 1, usage }));
    const { reply, shown } = await callAndWatch(requestTo(url, api));
    expect(reply).toMatchObject({ text, tool_calls: [], usage, finish_reason: 'stop', notes: [] });
    expect(shown('text')).toBe(text);
    expect(shown('reasoning')).toBe('I think.');
    expect(requests[0]).toMatchObject({
      protocol: api,
      idempotencyKey: 'k3v9x2m7q4ta.r1.s1.0',
      system: 'be brief',
      lastUserText: 'go',
    });
    expect(requests[0]?.headers.authorization).toBe('Bearer sk-secret-of-the-test');
  });

  test('gives parallel calls with their arguments as they came, malformed ones too', async () => {
    const calls = [
      { tool: 'bash', args: { command: 'ls "ä"' }, call_id: 'a' },
      { tool: 'read_file', args: '{"path": "x', call_id: 'b' },
    ];
    const { url } = await serve(callTools(calls, { chunk_chars: 3, text: 'I look.' }));
    const { reply, shown } = await callAndWatch(requestTo(url, api));
    expect(reply.text).toBe('I look.');
    expect(reply.finish_reason).toBe('tool_calls');
    expect(reply.tool_calls).toEqual([
      { call_id: 'a', tool: 'bash', arguments: '{"command":"ls \\"ä\\""}' },
      { call_id: 'b', tool: 'read_file', arguments: '{"path": "x' },
    ]);
    expect(shown('tool_arguments')).toBe('{"command":"ls \\"ä\\""}{"path": "x');
  });

  test('gives reasoning back in the next call to its maker, and strips it for another model', async () => {
    const { url, requests } = await serve(callTool('bash', {}, { reasoning: 'hm' }), say('a'), say('b'));
    const request = requestTo(url, api);
    const { text, reasoning, tool_calls } = await callProvider(request, quietly());
    const messages = [
      ...request.messages,
      { role: 'assistant' as const, text, reasoning, tool_calls },
      { role: 'tool' as const, call_id: tool_calls[0]?.call_id ?? '', text: 'done' },
    ];
    await callProvider({ ...request, messages }, quietly());
    await callProvider({ ...request, messages, model: 'another' }, quietly());
    const returned = requests.map(({ messages }) => messages.flatMap(({ reasoning }) => reasoning));
    expect(returned[0]).toEqual([]);
    expect(returned[1]).toEqual([
      api === 'chat' ? 'hm' : expect.objectContaining({ type: 'reasoning', encrypted_content: 'aG0=' }),
    ]);
    expect(returned[2]).toEqual([]);
  });

  test('takes one object from a server that does not stream, and no usage from one that counts none', async () => {
    const { url } = await serve(
      callTool('bash', { n: 1 }, { streamed: false, usage }),
      say('hi', { usage: null }),
    );
    const whole = await callProvider(requestTo(url, api), quietly());
    expect(whole).toMatchObject({ tool_calls: [{ tool: 'bash', arguments: '{"n":1}' }], usage });
    expect((await callProvider(requestTo(url, api), quietly())).usage).toBeNull();
  });

  test('says when a reply was cut', async () => {
    const { url } = await serve(
      say('never end', { finish: 'length' }),
      say('x', { finish: 'content_filter' }),
    );
    expect((await callProvider(requestTo(url, api), quietly())).finish_reason).toBe('length');
    expect((await callProvider(requestTo(url, api), quietly())).finish_reason).toBe('content_filter');
  });

  test('a stream that breaks in the middle of arguments is unavailable, and nothing of it is a reply', async () => {
    const turn = callTool('bash', { command: 'x'.repeat(100) }, { chunk_chars: 10 });
    const { url } = await serve(breakStream(6, turn));
    expect(await failureOf(callProvider(requestTo(url, api), quietly()))).toMatchObject({
      type: 'model.unavailable',
      nonRetryable: false,
    });
  });

  test('a stream that ends politely but too early is unavailable', async () => {
    const { url } = await serve(rawChunks([sse(chunk({ content: 'Hel' }))]), rawChunks([]));
    expect((await failureOf(callProvider(requestTo(url, api), quietly()))).type).toBe('model.unavailable');
    expect((await failureOf(callProvider(requestTo(url, api), quietly()))).type).toBe('model.unavailable');
  });

  test('cancelling closes the connection at once, with the reason of the signal', async () => {
    const { url, requests } = await serve(stall(60_000, 2));
    const controller = new AbortController();
    const reason = new Error('interrupted by the user');
    let aborted = 0;
    const call = callProvider(
      requestTo(url, api),
      quietly({
        signal: controller.signal,
        onActivity: () => {
          aborted = performance.now();
          controller.abort(reason);
        },
      }),
    );
    await expect(call).rejects.toBe(reason);
    expect(await requests[0]?.ended).toBe('aborted');
    expect(performance.now() - aborted).toBeLessThan(2_000);
  });

  test('cancelling before the first byte closes the connection too', async () => {
    const controller = new AbortController();
    const { url, requests } = await serve(say('x', { first_byte_ms: 60_000 }));
    const call = callProvider(requestTo(url, api), quietly({ signal: controller.signal }));
    const timer = setInterval(() => requests.length > 0 && controller.abort('enough'), 5);
    await expect(call).rejects.toBe('enough');
    clearInterval(timer);
    expect(await requests[0]?.ended).toBe('aborted');
  });

  test('silence in the middle, or before the first byte, is a stall that closes the connection', async () => {
    const { url, requests } = await serve(stall(60_000, 2), say('x', { first_byte_ms: 60_000 }));
    for (const index of [0, 1]) {
      const failure = await failureOf(callProvider(requestTo(url, api), quietly({ stallTimeoutMs: 100 })));
      expect(failure).toMatchObject({ type: 'model.stalled', nonRetryable: false });
      expect(await requests[index]?.ended).toBe('aborted');
    }
  });

  test('slow is not stalled', async () => {
    const { url } = await serve(say('abcdef', { chunk_chars: 1, chunk_delay_ms: 150 }));
    let activity = 0;
    const options = quietly({ stallTimeoutMs: 1_000, onActivity: () => (activity += 1) });
    expect((await callProvider(requestTo(url, api), options)).text).toBe('abcdef');
    expect(activity).toBeGreaterThan(5);
  });

  test('an error in the stream is what the provider says it is', async () => {
    const error = { code: 'rate_limit_exceeded', message: 'slow down' };
    const { url } = await serve(rawChunks([sse(chunk({ content: 'Hel' })), sse({ error })]));
    expect((await failureOf(callProvider(requestTo(url, api), quietly()))).type).toBe('model.rate_limited');
  });

  test('an HTTP error carries the provider’s words and the time to wait', async () => {
    const { url } = await serve(fail(429, { error: { message: 'slow down' } }, { 'retry-after': '3' }));
    const failure = await failureOf(callProvider(requestTo(url, api), quietly()));
    expect(failure).toMatchObject({ type: 'model.rate_limited', nonRetryable: false, nextRetryDelay: 3_000 });
    expect(failure.message).toMatch(/HTTP 429\): slow down$/);
  });

  test('HTML and foreign JSON in the place of a reply are malformed', async () => {
    const page = rawChunks(['<!doctype html><title>Welcome</title>'], {
      headers: { 'content-type': 'text/html' },
    });
    const { url } = await serve(page, rawChunks(['{"hello":"world"}']));
    for (const quote of ['Welcome', 'hello']) {
      const failure = await failureOf(callProvider(requestTo(url, api), quietly()));
      expect(failure.type).toBe('model.malformed');
      expect(failure.message).toContain(quote);
    }
  });

  test('a refused optional parameter is left out, at once and from then on', async () => {
    const name = api === 'chat' ? 'stream_options' : 'include';
    const refusal = { error: { message: `Unknown parameter: '${name}'.` } };
    const { url, requests } = await serve(fail(400, refusal), say('a'), say('b'));
    await callProvider(requestTo(url, api), quietly());
    await callProvider(requestTo(url, api), quietly());
    expect(requests.map(({ body }) => name in body)).toEqual([true, false, false]);
  });

  test('calls in a row keep their connections open', async () => {
    model = await startScriptedModel({ script: () => say('hi') });
    for (let index = 0; index < 10; index += 1) await callProvider(requestTo(model.url, api), quietly());
    // Two by turns: one carries the next call while the end of the last is read from the other.
    expect(new Set(model.requests.map(({ clientPort }) => clientPort)).size).toBeLessThanOrEqual(2);
  });
});

describe('chat servers', () => {
  test.each([
    'Missing `reasoning_content` field in the assistant message at message index 1.',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
    'The `reasoning_content` in the thinking mode must be passed back to the API.',
  ])(
    'that miss the reasoning of another model get a placeholder, at once and from then on: %s',
    async (message) => {
      const { url, requests } = await serve(fail(400, { error: { message } }), say('a'), say('b'));
      const call = { call_id: 'c1', tool: 'bash', arguments: '{}' };
      const request = requestTo(url, 'chat', {
        messages: [
          { role: 'user', text: 'go' },
          {
            role: 'assistant',
            text: '',
            reasoning: {
              provider: 'openai',
              model: 'gpt',
              items: [{ type: 'reasoning', encrypted_content: 'A' }],
            },
            tool_calls: [call],
          },
          { role: 'tool', call_id: 'c1', text: 'ok' },
        ],
      });
      const { notes } = await callProvider(request, quietly());
      expect(notes).toEqual([expect.stringMatching(/1 of other models were sent with a placeholder/)]);
      await callProvider(request, quietly());
      const sent = requests.map(({ body }) => (body['messages'] as { reasoning_content?: string }[])[1]);
      expect(sent.map((reply) => reply?.reasoning_content)).toEqual([
        undefined,
        '(not recorded)',
        '(not recorded)',
      ]);
    },
  );

  test('that go on missing it are not asked for ever, and those that want it removed get none', async () => {
    const missing = { error: { message: 'Missing `reasoning_content` field.' } };
    const remove = { error: { message: 'Please remove the `reasoning_content` from your message.' } };
    const { url, requests } = await serve(fail(400, missing), fail(400, missing), fail(400, remove));
    expect((await failureOf(callProvider(requestTo(url, 'chat'), quietly()))).type).toBe('model.bad_request');
    expect(requests).toHaveLength(2);
    expect((await failureOf(callProvider(requestTo(url, 'chat'), quietly()))).type).toBe('model.bad_request');
    expect(requests).toHaveLength(3);
  });

  test('may end with [DONE] alone, or never end after the finish reason', async () => {
    const hello = sse(chunk({ content: 'Hello' }));
    const { url } = await serve(
      rawChunks([hello, 'data: [DONE]\n\n']),
      rawChunks([hello, sse(chunk({}, 'stop'))], { broken: true }),
    );
    const done = await callProvider(requestTo(url, 'chat'), quietly());
    expect(done).toMatchObject({ text: 'Hello', finish_reason: 'unknown' });
    const broken = await callProvider(requestTo(url, 'chat'), quietly());
    expect(broken).toMatchObject({ text: 'Hello', finish_reason: 'stop' });
    expect(broken.notes[0]).toMatch(/^The reply was whole when its stream failed/);
  });

  test('may hold the connection open after the finish reason: the reply is taken without its usage', async () => {
    const { url, requests } = await serve(stall(60_000, 3, say('Hello')));
    const reply = await callProvider(requestTo(url, 'chat'), quietly({ stallTimeoutMs: 100 }));
    expect(reply).toMatchObject({ text: 'Hello', finish_reason: 'stop', usage: null });
    expect(await requests[0]?.ended).toBe('aborted');
  });

  test('may cut characters between chunks and say a wrong Content-Type', async () => {
    const bytes = Buffer.from(sse(chunk({ content: '漢字 😀' })) + sse(chunk({}, 'stop')));
    const singles = Array.from(bytes, (byte) => Uint8Array.of(byte));
    const { url } = await serve(rawChunks(singles, { headers: { 'content-type': 'application/json' } }));
    expect((await callProvider(requestTo(url, 'chat'), quietly())).text).toBe('漢字 😀');
  });

  test('may end a cut tool call with [DONE]: that is no reply', async () => {
    const call = chunk({
      tool_calls: [{ index: 0, id: 'a', function: { name: 'bash', arguments: '{"comm' } }],
    });
    const { url } = await serve(rawChunks([sse(call), 'data: [DONE]\n\n']));
    expect((await failureOf(callProvider(requestTo(url, 'chat'), quietly()))).type).toBe('model.unavailable');
  });
});

describe('without a server', () => {
  test('nobody listens: unavailable, with the code', async () => {
    const { url, close } = await startScriptedModel({ script: () => say('') });
    await close();
    const failure = await failureOf(callProvider(requestTo(url, 'chat'), quietly()));
    expect(failure).toMatchObject({ type: 'model.unavailable', nonRetryable: false });
    expect(failure.message).toContain('ECONNREFUSED');
  });

  test('no key for OpenAI, no URL: said without a call', async () => {
    const request = { ...requestTo('', 'chat'), base_url: null, api_key: undefined };
    expect((await failureOf(callProvider(request, quietly()))).type).toBe('model.auth');
    const failure = await failureOf(callProvider(requestTo('localhost', 'chat'), quietly()));
    expect(failure).toMatchObject({ type: 'model.bad_request', nonRetryable: true });
  });

  test('a server without keys is called without an Authorization header', async () => {
    const { url, requests } = await serve(say('hi'));
    await callProvider({ ...requestTo(url, 'chat'), api_key: undefined }, quietly());
    expect(requests[0]?.headers).not.toHaveProperty('authorization');
  });

  test('aborted before it begins: nothing is sent', async () => {
    const { url, requests } = await serve();
    const signal = AbortSignal.abort('never mind');
    await expect(callProvider(requestTo(url, 'chat'), quietly({ signal }))).rejects.toBe('never mind');
    expect(requests).toEqual([]);
  });
});
