import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startScriptedModel, type ScriptedModel, type Script } from '../../src/demo/scriptedModel.ts';
import { scriptByStep, scriptByText } from '../../src/demo/scriptedSteps.ts';
import { breakStream, callTool, fail, rawChunks, say } from '../../src/demo/scriptedTurns.ts';

let model: ScriptedModel | undefined;

afterEach(async () => {
  await model?.close();
  model = undefined;
});

async function start(script: Script): Promise<ScriptedModel> {
  model = await startScriptedModel({ script });
  return model;
}

async function post(path: string, body: object): Promise<Response> {
  return fetch(`${model?.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
}

/** The fields of both protocols' objects that these tests look at. */
interface Answer {
  choices: { message: { tool_calls: { function: object }[] } }[];
  output: { type: string; name: string; call_id: string; content: { text: string }[] }[];
}

async function ask(path: string, body: object): Promise<Answer> {
  return (await (await post(path, body)).json()) as Answer;
}

async function textOf(input: unknown): Promise<string | undefined> {
  return (await ask('/responses', { model: 'm', input })).output[0]?.content[0]?.text;
}

const HELLO = [{ role: 'user', content: 'hello' }];

describe('scripted model', () => {
  test('chat completions stream in chunks that end with usage and [DONE]', async () => {
    await start(() => say('one two', { chunk_chars: 4 }));
    const response = await post('/chat/completions', {
      model: 'm',
      messages: HELLO,
      stream: true,
      stream_options: { include_usage: true },
    });
    const events = (await response.text()).split('\n\n').filter(Boolean);
    expect(response.headers.get('content-type')).toMatch('text/event-stream');
    expect(events.at(-1)).toBe('data: [DONE]');
    const chunks = events.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)));
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? null)).toEqual([
      '',
      'one ',
      'two',
      null,
      null,
    ]);
    expect(chunks.at(-1).usage.total_tokens).toBeGreaterThan(0);
  });

  test('responses stream typed events from created to completed', async () => {
    await start(() => callTool('bash', { command: 'ls' }, { reasoning: 'look first' }));
    const response = await post('/responses', { model: 'm', input: 'hello', stream: true });
    const types = [...(await response.text()).matchAll(/^event: (.*)$/gm)].map(([, type]) => type);
    expect(types[0]).toBe('response.created');
    expect(types).toContain('response.function_call_arguments.delta');
    expect(types).toContain('response.reasoning_summary_text.delta');
    expect(types.at(-1)).toBe('response.completed');
  });

  test('answers in one object where no stream is asked for, and lists its models', async () => {
    const { url } = await start(() => callTool('bash', { command: 'ls' }));
    const chat = await ask('/chat/completions', { model: 'm', messages: HELLO });
    expect(chat.choices[0]?.message.tool_calls[0]?.function).toEqual({
      name: 'bash',
      arguments: '{"command":"ls"}',
    });
    const responses = await ask('/responses', { model: 'm', input: 'hello' });
    expect(responses.output[0]).toMatchObject({ type: 'function_call', name: 'bash' });
    const models = await (await fetch(`${url}/models`)).json();
    expect(models).toMatchObject({ data: [{ id: 'scripted' }] });
  });

  test('a script by steps goes by the conversation, so a repeated request gets the same answer', async () => {
    await start(
      scriptByStep([
        callTool('bash', { command: 'ls' }),
        ({ resultsOfTurn }) => say(`got ${resultsOfTurn[0]}`),
      ]),
    );
    const input = [{ role: 'user', content: 'go' }];
    const answer = await ask('/responses', { model: 'm', input });
    expect((await ask('/responses', { model: 'm', input })).output).toMatchObject([
      { call_id: answer.output[0]?.call_id },
    ]);
    const next = [
      ...input,
      answer.output[0],
      { type: 'function_call_output', call_id: answer.output[0]?.call_id, output: 'a.txt' },
      { role: 'user', content: '<recovery>said by the agent itself</recovery>' },
    ];
    expect(await textOf(next)).toBe('got a.txt');
  });

  test('a script by text answers each user message with its own steps', async () => {
    await start(scriptByText([{ when: 'weather', steps: [say('sunny')] }], [say('what?')]));
    expect(await textOf('the weather today')).toBe('sunny');
    expect(await textOf('the time')).toBe('what?');
  });

  test('its log shows keys and how each exchange ended', async () => {
    const turns = [
      say('fine'),
      breakStream(2),
      fail(429, undefined, { 'retry-after': '1' }),
      rawChunks(['x']),
    ];
    const { requests } = await start((_, index) => turns[index] ?? say(''));
    const body = JSON.stringify({ model: 'm', messages: HELLO, stream: true });
    const headers = { 'idempotency-key': 'k1' };
    for (let index = 0; index < turns.length; index += 1) {
      const response = await fetch(`${model?.url}/chat/completions`, { method: 'POST', body, headers });
      await response.text().catch(() => undefined);
    }
    await Promise.all(requests.map(({ ended }) => ended));
    expect(requests.map(({ outcome }) => outcome)).toEqual(['answered', 'broken', 'answered', 'answered']);
    expect(requests[0]).toMatchObject({
      idempotencyKey: 'k1',
      lastUserText: 'hello',
      protocol: 'chat',
      step: 0,
    });
  });

  test('runs as a process with a script file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-script-'));
    const path = join(folder, 'script.json');
    const steps = [{ call: { tool: 'bash', args: { command: 'ls' } } }, { say: 'done', usage: null }];
    await writeFile(path, JSON.stringify({ conversations: [{ when: 'go', steps }] }));
    const child = spawn(process.execPath, ['src/demo/scriptedModelMain.ts', path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(line.toString()) as { url: string };
    const response = await fetch(`${url}/responses`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', input: 'go' }),
    });
    expect(await response.json()).toMatchObject({ output: [{ name: 'bash' }] });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await rm(folder, { recursive: true });
  });
});
