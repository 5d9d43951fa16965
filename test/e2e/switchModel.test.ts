/** A session goes from one service to another and back, in the middle of its work. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startScriptedModel, type Script } from '../../src/demo/scriptedModel.ts';
import type { SeenRequest } from '../../src/demo/scriptedRequest.ts';
import { callTool, say, type ScriptedTurn } from '../../src/demo/scriptedTurns.ts';
import type { ContextPreview } from '../../src/domain/model.ts';
import { all, checkLog, until, World } from '../support/world.ts';

const WAIT = 'touch begun; until [ -e go ]; do sleep 0.05; done; echo ready';

/** Answers turn by turn, by prompt and step; a turn may wait for `release`. */
function scripted(turns: Record<string, ScriptedTurn>, held: Record<string, Promise<void>> = {}): Script {
  return async ({ lastUserText, step }) => {
    const key = `${lastUserText} ${step}`;
    await held[key];
    const turn = turns[key];
    if (turn === undefined) throw new Error(`nothing is scripted for ${key}`);
    return turn;
  };
}

/** Each reply's calls are answered right after it, once each, and nothing else is. */
function checkConversation({ messages, body }: SeenRequest): void {
  expect(body).not.toHaveProperty('previous_response_id');
  const open: string[] = [];
  for (const { role, calls, call_id } of messages) {
    if (role === 'tool') expect(open.splice(open.indexOf(call_id ?? ''), 1)).toEqual([call_id]);
    else expect(open).toEqual([]);
    open.push(...calls.map((call) => call.call_id));
  }
  expect(open).toEqual([]);
}

/** What was given back of encrypted reasoning, as the scripted model had thought it. */
function thoughts({ messages }: SeenRequest): string[] {
  return messages
    .flatMap(({ reasoning }) => reasoning)
    .map((item) =>
      typeof item === 'string'
        ? item
        : Buffer.from((item as { encrypted_content: string }).encrypted_content, 'base64').toString(),
    );
}

const encrypted = (text: string): string => Buffer.from(text).toString('base64');

/** All that the two services were sent: `a` in Responses, `b` in Chat Completions. */
function checkRequests(a: SeenRequest[], b: SeenRequest[]): void {
  for (const { protocol, model } of a) expect([protocol, model]).toEqual(['responses', 'scripted']);
  for (const { protocol, model } of b) expect([protocol, model]).toEqual(['chat', 'other']);
  expect([a.length, b.length]).toEqual([3, 4]);
  expect(new Set(a.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer sk-a']));
  expect(new Set(b.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer sk-b']));
  for (const request of [...a, ...b]) checkConversation(request);

  // Each is given its own thoughts, as far as its protocol wants them back, and none of the other's.
  expect(a.map(thoughts)).toEqual([[], ['A one'], ['A one', 'A two']]);
  expect(b.map(thoughts)).toEqual([[], ['B one'], [], []]);
  for (const { body } of a) expect(JSON.stringify(body)).not.toMatch(/B (one|two|three)|reasoning_content/);
  for (const { body } of b) {
    const sent = JSON.stringify(body);
    expect(sent).not.toMatch(/A (one|two)|encrypted_content|"rs_/);
    expect(sent).not.toContain(encrypted('A one'));
  }
  // The results of calls that one made are known to the other.
  expect(b[0]?.resultsOfTurn.join()).toContain('ready');
  expect(Object.values(a[1]?.toolResults ?? {}).join()).toContain('two');
}

test('a session changes its model and service in the middle of a run, and goes back', {
  timeout: 180_000,
}, async () => {
  const first = Promise.withResolvers<void>();
  const third = Promise.withResolvers<void>();
  await using world = await World.create(
    scripted(
      {
        'first task 0': callTool('bash', { command: WAIT }, { text: 'I wait.', reasoning: 'A one' }),
        'third task 0': callTool('bash', { command: 'echo three' }, { reasoning: 'A two' }),
        'third task 1': say('third done'),
      },
      { 'third task 0': third.promise },
    ),
    { api: 'responses' },
  );
  const other = await startScriptedModel({
    script: scripted(
      {
        'first task 1': callTool('bash', { command: 'echo two' }, { reasoning: 'B one' }),
        'first task 2': say('first done', { reasoning: 'B two' }),
        'second task 0': say('second done', { reasoning: 'B three' }),
        'fourth task 0': say('fourth done'),
      },
      { 'first task 1': first.promise },
    ),
  });
  try {
    const [a, b] = [world.model.requests, other.requests];
    world.env['OPENAI_API_KEY'] = 'sk-a';
    const id = await world.start('first task');
    await until(async () => stat(join(world.workspace, 'begun')).catch(() => undefined));

    // To the other service while the first one's call is running.
    world.env['OPENAI_API_KEY'] = 'sk-b';
    const toB = ['--model', 'other', '--base-url', other.url];
    const gone = await world.cli([
      'resume',
      id,
      '--prompt',
      'second task',
      ...toB,
      '--api',
      'chat',
      '--detach',
    ]);
    expect(gone).toMatchObject({ code: 0, stdout: expect.stringContaining(id) });
    await world.touch('go');
    await until(async () => b.length > 0);
    const seenByB = await world.json<ContextPreview>('context', id);
    expect(b[0]?.body['messages']).toEqual(seenByB.messages);
    first.resolve();
    expect((await world.wait(id)).code).toBe(0);
    expect((await world.facts(id)).settings).toMatchObject({
      model: 'other',
      base_url: other.url,
      api: 'chat',
    });

    // And back.
    world.env['OPENAI_API_KEY'] = 'sk-a';
    const toA = ['--model', 'scripted', '--base-url', world.model.url, '--api', 'responses'];
    const back = world.begin(['resume', id, '--prompt', 'third task', ...toA]);
    await until(async () => a.length > 1);
    const seenByA = await world.json<ContextPreview>('context', id);
    expect(a[1]?.body['input']).toEqual(seenByA.messages);
    expect(seenByA.tokens_estimate).toBeGreaterThan(1_000);
    third.resolve();
    expect(await back.ended).toMatchObject({ code: 0, stdout: 'third done\n' });
    expect((await world.facts(id)).settings).toMatchObject({ model: 'scripted', api: 'responses' });

    // Once more, by the flags that are needed: the API follows from the address, the key is the stored one.
    const again = await world.cli(['resume', id, '--prompt', 'fourth task', ...toB]);
    expect(again).toMatchObject({ code: 0, stdout: 'fourth done\n' });
    expect(again.stderr).toContain(`The key that is stored for ${other.url} stays`);

    checkRequests(a, b);
    const events = await world.events(id);
    checkLog(events);
    const digests = all(events, 'assistant_message').map(({ context_digest }) => context_digest);
    expect([digests[1], digests[4]]).toEqual([seenByB.digest, seenByA.digest]);
    expect(all(events, 'settings_changed')).toHaveLength(3);
  } finally {
    await other.close();
  }
});

test('a window that is set stays with its model alone', { timeout: 120_000 }, async () => {
  await using world = await World.create(() => say('done'));
  const id = await world.start('go', '--context-window', '8192');
  await world.wait(id);
  expect((await world.facts(id)).settings.context_window).toBe(8_192);
  await world.cli(['run', 'on', '--session', id, '--context-window', '16384']);
  expect((await world.facts(id)).settings.context_window).toBe(16_384);
  await world.cli(['run', 'on', '--session', id, '--model', 'another']);
  expect((await world.facts(id)).settings).not.toHaveProperty('context_window');
});
