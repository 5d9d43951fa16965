import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callTool, say } from '../../src/demo/scriptedTurns.ts';
import { all, until, World } from '../support/world.ts';

/** Its last act ends its own runner, so that nobody records how it ended. */
const COMMAND = 'echo start >> log; echo halfway; sleep 1; kill -9 $PPID; sleep 0.2; echo done >> log';

test('with `wait`, a lost call waits for the user, stays unknown where nobody can know, and is settled by a person', async () => {
  await using world = await World.create(({ lastUserText }) =>
    lastUserText === 'go' ? callTool('bash', { command: COMMAND }) : say('I see.'),
  );
  const id = await world.start('go', '--on-interrupt', 'wait');
  await until(async () => readFile(join(world.workspace, 'log')).catch(() => undefined));
  await world.kill('worker');
  expect((await world.wait(id)).code).toBe(3);
  expect(world.model.requests).toHaveLength(1);
  const [waiting] = (await world.facts(id)).uncertain;
  expect(waiting).toMatchObject({ tool: 'bash', status: 'uncertain' });

  expect((await world.cli(['run', 'what happened?', '--session', id])).code).toBe(0);
  const [unknown] = (await world.facts(id)).uncertain;
  expect(unknown).toMatchObject({ call_id: waiting?.call_id, status: 'unknown' });
  expect(unknown?.evidence).toContain('halfway');
  expect(await readFile(join(world.workspace, 'log'), 'utf8')).toMatch(/^start\n(done\n)?$/);
  const told = world.model.requests[1]?.messages.map((message) => message.text).join('\n');
  expect(told).toContain('UNKNOWN: this call was begun and its result was lost.');
  expect(told).toContain('<recovery>');

  const wrong = await world.cli(['resolve', id, 'no-such-call', '--as', 'done']);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain(waiting?.call_id);
  const settled = [
    'resolve',
    id,
    waiting?.call_id ?? '',
    '--as',
    'done',
    '--note',
    'The log has both lines.',
  ];
  expect((await world.cli(settled)).code).toBe(0);
  expect((await world.facts(id)).uncertain).toEqual([]);
  expect((await world.cli(['run', 'go on', '--session', id])).code).toBe(0);
  const afterwards = world.model.requests[2]?.messages.map((message) => message.text).join('\n');
  expect(afterwards).toContain('The user says that it was done. The log has both lines.');
  expect(all(await world.events(id), 'tool_recovery').map((event) => [event.status, event.by])).toEqual([
    ['uncertain', 'tool'],
    ['unknown', 'tool'],
    ['completed', 'user'],
  ]);
});
