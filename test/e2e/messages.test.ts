import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect, createSession, waitIdle } from '../../src/client/index.ts';
import { scriptByStep } from '../../src/demo/scriptedSteps.ts';
import { callTool, say } from '../../src/demo/scriptedTurns.ts';
import { hostId } from '../../src/host/home.ts';
import { sharedWorlds } from '../support/sharedWorlds.ts';
import { all, checkLog, until } from '../support/world.ts';

const createWorld = sharedWorlds();

test('three messages that are sent during a run are answered one after the other, in order', async () => {
  await using world = await createWorld(({ lastUserText, step }) =>
    lastUserText === 'first' && step === 0
      ? callTool('bash', { command: 'touch begun; while [ ! -e go ]; do sleep 0.05; done' })
      : say(`answer to ${lastUserText}`),
  );
  const id = await world.start('first');
  await until(async () => readFile(join(world.workspace, 'begun')).catch(() => undefined));
  for (const text of ['one', 'two', 'three']) await world.cli(['send', id, text]);
  expect((await world.facts(id)).queued).toBe(3);
  await world.touch('go');
  expect((await world.wait(id)).code).toBe(0);
  const events = await world.events(id);
  checkLog(events);
  const answers = all(events, 'assistant_message').map((event) => event.text);
  expect(answers.filter((text) => text !== '')).toEqual([
    'answer to first',
    'answer to one',
    'answer to two',
    'answer to three',
  ]);
  expect((await world.facts(id)).runs.map((run) => run.status)).toEqual(Array(4).fill('success'));
});

test('a steering message is in the very next model call, after the results of the calls that were under way', async () => {
  await using world = await createWorld(({ messages }) =>
    messages.some((message) => message.role === 'tool')
      ? say('done')
      : callTool('bash', { command: 'touch begun; while [ ! -e go ]; do sleep 0.05; done' }),
  );
  const id = await world.start('first');
  await until(async () => readFile(join(world.workspace, 'begun')).catch(() => undefined));
  await world.cli(['send', id, 'and mind the tests', '--steer']);
  await world.touch('go');
  expect((await world.wait(id)).code).toBe(0);
  expect((await world.facts(id)).run_count).toBe(1);
  expect(world.model.requests).toHaveLength(2);
  expect(world.model.requests[1]?.messages.map((message) => message.role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'user',
  ]);
  expect(world.model.requests[1]?.messages.at(-1)?.text).toBe('and mind the tests');
});

test('a run that continues as new several times loses nothing, and its events read as one sequence', async () => {
  const steps = 30;
  await using world = await createWorld(({ step }) =>
    step < steps ? callTool('bash', { command: `echo ${step} >> log` }) : say('done'),
  );
  await world.up();
  const service = await connect(world.home, world.env);
  const { session_id } = await createSession(service, {
    user_id: 'u',
    workspace: { host: await hostId(world.home), path: world.workspace },
    settings: {
      model: 'm',
      api: 'chat',
      base_url: world.model.url,
      approval: 'auto',
      on_interrupt: 'continue',
    },
    text: 'go',
    roll_over: { history_events: 100 },
  });
  await waitIdle(service, session_id, { signal: new AbortController().signal });
  await service.close();
  const events = await world.events(session_id);
  checkLog(events);
  expect(all(events, 'tool_result')).toHaveLength(steps);
  expect(await readFile(join(world.workspace, 'log'), 'utf8')).toBe(
    Array.from({ length: steps }, (_, step) => `${step}\n`).join(''),
  );
  // Each request holds the whole conversation so far: nothing was forgotten on the way.
  expect(world.model.requests.map((request) => request.step)).toEqual([...Array(steps + 1).keys()]);
});

test('the server killed alone: a message that is sent right after is accepted when it is back, once', async () => {
  await using world = await createWorld(
    scriptByStep([
      callTool('bash', { command: 'echo start >> log; sleep 2; echo done >> log' }),
      say('seen'),
    ]),
  );
  const id = await world.start('first');
  await until(async () => readFile(join(world.workspace, 'log')).catch(() => undefined));
  await world.kill('server');
  expect((await world.cli(['send', id, 'second', '--message-id', 'm2'])).code).toBe(0);
  expect((await world.wait(id)).code).toBe(0);
  const events = await world.events(id);
  checkLog(events);
  expect(all(events, 'user_message').map((event) => event.text)).toEqual(['first', 'second']);
  expect(all(events, 'run_finished').map((event) => event.status)).toEqual(['success', 'success']);
  expect(
    (await readFile(join(world.workspace, 'log'), 'utf8')).split('\n').filter((line) => line === 'start'),
  ).toHaveLength(2);
});
