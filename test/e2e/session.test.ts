import { readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scriptByStep } from '../../src/demo/scriptedSteps.ts';
import { callTool, callTools, say } from '../../src/demo/scriptedTurns.ts';
import { identifyProcess } from '../../src/host/process.ts';
import { sharedWorlds } from '../support/sharedWorlds.ts';
import { all, checkLog, until } from '../support/world.ts';

const createWorld = sharedWorlds();

test.for(['chat', 'responses'] as const)(
  'a task is worked on with tools to its end over the protocol %s',
  async (api) => {
    await using world = await createWorld(
      scriptByStep([
        callTools([
          { tool: 'read_file', args: { path: 'a.txt' } },
          { tool: 'search', args: { pattern: 'hello' } },
        ]),
        callTool('edit_file', { path: 'a.txt', old_text: 'hello', new_text: 'goodbye' }),
        callTool('write_file', { path: 'new/b.txt', content: 'made\n' }),
        callTool('bash', { command: 'cat a.txt new/b.txt' }),
        say('All done.'),
      ]),
      { api },
    );
    await writeFile(join(world.workspace, 'a.txt'), 'hello world\r\n');
    const { code, stdout, stderr } = await world.cli(['run', 'change it']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'All done.\n' });
    expect(stderr).toContain('edit_file a.txt');
    expect(await readFile(join(world.workspace, 'a.txt'), 'utf8')).toBe('goodbye world\r\n');
    expect(world.model.requests.at(-1)?.resultsOfTurn.at(-1)).toContain('goodbye world');
    expect(world.model.requests[0]?.protocol).toBe(api);
  },
);

test('a message sent while no worker runs is worked on when one starts, once', async () => {
  await using world = await createWorld(() => say('hello'));
  await world.up();
  const id = await world.start('first');
  await world.wait(id);
  await world.down();
  await world.up({ withWorker: false });
  expect((await world.cli(['send', id, 'second', '--message-id', 'm2'])).code).toBe(0);
  expect(world.model.requests).toHaveLength(1);
  await world.down();
  await world.up();
  expect((await world.wait(id)).code).toBe(0);
  expect(all(await world.events(id), 'user_message').map((event) => event.text)).toEqual(['first', 'second']);
  expect(world.model.requests).toHaveLength(2);
});

test('the same message id twice is one message', async () => {
  await using world = await createWorld(() => say('hello'));
  const id = await world.start('first');
  await world.cli(['send', id, 'again', '--message-id', 'm2']);
  await world.wait(id);
  await world.cli(['send', id, 'again', '--message-id', 'm2']);
  await world.wait(id);
  expect(all(await world.events(id), 'user_message')).toHaveLength(2);
  expect(world.model.requests).toHaveLength(2);
});

test('an interrupt ends `sleep 600` and its children, and says what was done until then', async () => {
  await using world = await createWorld(
    scriptByStep([
      callTool('bash', { command: 'echo before; (sleep 600 & echo $! >> pids; wait) & sleep 600' }),
      say('next'),
    ]),
  );
  const id = await world.start('go');
  const pid = await until(async () =>
    Number(await readFile(join(world.workspace, 'pids'), 'utf8').catch(() => '')),
  );
  expect((await world.cli(['interrupt', id])).code).toBe(0);
  expect((await world.wait(id)).code).toBe(6);
  expect(await identifyProcess(pid)).toBeUndefined();
  const [result] = all(await world.events(id), 'tool_result');
  expect(result).toMatchObject({ status: 'cancelled' });
  expect(result?.output).toContain('before');
});
test('an approval that was asked for survives a stop of everything, and the approved call runs once', async () => {
  await using world = await createWorld(
    scriptByStep([callTool('bash', { command: 'echo once >> log' }), say('done')]),
  );
  const asked = await world.cli(['run', 'go', '--approval', 'ask', '--json']);
  expect(asked.code).toBe(3);
  const id = /"session_id":"([a-z0-9]{12})"/.exec(asked.stdout)?.[1] ?? '';
  await world.down();
  expect((await world.facts(id)).pending_approvals).toMatchObject([{ tool: 'bash' }]);
  expect((await world.cli(['approve', id])).code).toBe(0);
  expect((await world.wait(id)).code).toBe(0);
  expect(await readFile(join(world.workspace, 'log'), 'utf8')).toBe('once\n');
});

test('a workspace that was moved away is WorkspaceNotFound with exit code 5, and `rebind` heals it', async () => {
  await using world = await createWorld(() => say('hello'));
  const id = await world.start('first');
  await world.wait(id);
  const moved = world.beside('moved');
  await rename(world.workspace, moved);
  const refused = await world.cli(['run', 'second', '--session', id], { cwd: moved });
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain('WorkspaceNotFound');
  expect((await world.cli(['rebind', id, moved], { cwd: moved })).code).toBe(0);
  expect((await world.cli(['run', 'third', '--session', id], { cwd: moved })).code).toBe(0);
});

test('a session resumed from another directory, under another configuration, keeps its workspace, policy and model', async () => {
  await using world = await createWorld(
    scriptByStep([callTool('bash', { command: 'pwd > where' }), say('done')]),
  );
  const id = await world.start('first', '--approval', 'read-only');
  await world.wait(id);
  world.env['HOLDFAST_MODEL'] = 'another';
  const resumed = await world.cli(['resume', id, '--prompt', 'again'], { cwd: world.beside('.') });
  expect(resumed.code).toBe(0);
  expect(world.model.requests.map((request) => request.model)).toEqual([
    'scripted',
    'scripted',
    'scripted',
    'scripted',
  ]);
  expect(all(await world.events(id), 'tool_result').map((event) => event.status)).toEqual([
    'denied',
    'denied',
  ]);
  expect((await world.facts(id)).workspace.path).toBe(world.workspace);
});

test('paths that leave the workspace are refused, through `..`, absolute, and through a symlink', async () => {
  await using world = await createWorld(
    scriptByStep([
      callTools([
        { tool: 'read_file', args: { path: '../secret' } },
        { tool: 'read_file', args: { path: '/etc/passwd' } },
        { tool: 'write_file', args: { path: 'link/made', content: 'x' } },
      ]),
      say('done'),
    ]),
  );
  await writeFile(world.beside('secret'), 'secret');
  await symlink(world.beside('.'), join(world.workspace, 'link'));
  await world.cli(['run', 'go']);
  const results = world.model.requests.at(-1)?.resultsOfTurn;
  expect(results).toEqual(Array(3).fill(expect.stringMatching(/outside|leaves/i)));
  expect(await readFile(world.beside('made'), 'utf8').catch(() => 'none')).toBe('none');
});

test('a file changed by hand between read and write is refused with FILE_CHANGED and keeps the hand-made change', async () => {
  await using world = await createWorld(
    scriptByStep([
      callTool('read_file', { path: 'a.txt' }),
      callTool('bash', { command: 'sleep 0.1; echo by hand > a.txt' }),
      callTool('write_file', { path: 'a.txt', content: 'mine\n' }),
      say('done'),
    ]),
  );
  await writeFile(join(world.workspace, 'a.txt'), 'as read\n');
  await world.cli(['run', 'go']);
  expect(world.model.requests.at(-1)?.resultsOfTurn.at(-1)).toContain('FILE_CHANGED');
  expect(await readFile(join(world.workspace, 'a.txt'), 'utf8')).toBe('by hand\n');
});

test('`context` prints what the next model call sends, and calls no model', async () => {
  await using world = await createWorld(() => say('hello'));
  await writeFile(join(world.workspace, 'AGENTS.md'), 'Speak plainly.');
  const id = await world.start('first');
  await world.wait(id);
  const { messages } = await world.json<{ messages: { role: string; content: string }[] }>('context', id);
  expect(world.model.requests).toHaveLength(1);
  await world.cli(['send', id, 'second']);
  await world.wait(id);
  expect(messages[0]?.content).toContain('Speak plainly.');
  expect(world.model.requests[1]?.body['messages']).toEqual([
    ...messages,
    { role: 'user', content: 'second' },
  ]);
});

test('an archived session is opened again from its archive, complete, and goes on', async () => {
  await using world = await createWorld(({ messages }) => say(`message ${messages.length}`));
  const id = await world.start('first');
  await world.wait(id);
  expect((await world.cli(['archive', id])).code).toBe(0);
  await world.event(id, 'session_archived');
  const before = await world.events(id);
  expect((await world.cli(['resume', id, '--prompt', 'second'])).code).toBe(0);
  const after = await world.events(id);
  checkLog(after);
  expect(after.slice(0, before.length)).toEqual(before);
  expect(world.model.requests[1]?.messages.map((message) => message.text)).toContain('first');
});

test('a model that refuses the key fails the run with the remedy, and the session stays usable', async () => {
  let refuse = true;
  await using world = await createWorld(() =>
    refuse
      ? { kind: 'fail', status: 401, body: { error: { message: 'bad key' } }, headers: {} }
      : say('hello'),
  );
  const refused = await world.cli(['run', 'go', '--json']);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain('model.auth');
  refuse = false;
  const id = /"session_id":"([a-z0-9]{12})"/.exec(refused.stdout)?.[1] ?? '';
  expect((await world.cli(['run', 'again', '--session', id])).code).toBe(0);
});
