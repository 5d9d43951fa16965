import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SessionEvent } from '../../src/domain/event.ts';
import { scriptByText } from '../../src/demo/scriptedSteps.ts';
import { callTool, fail, say } from '../../src/demo/scriptedTurns.ts';
import { holdfastRig, type HoldfastRig } from '../support/holdfast.ts';

let rig: HoldfastRig;

beforeAll(async () => {
  rig = await holdfastRig(
    scriptByText([
      { when: 'greet', steps: [say('Hello.\nBe well.')] },
      {
        when: 'work',
        steps: [callTool('bash', { command: 'echo done' }, { text: 'On it.' }), say('It is done.')],
      },
      { when: 'linger', steps: [callTool('bash', { command: 'echo begun; sleep 60' }), say('Lingered.')] },
      { when: 'break', steps: [fail(401, { error: { message: 'no such key' } })] },
    ]),
  );
  await rig.holdfast(['up']);
}, 60_000);
afterAll(async () => rig?.[Symbol.asyncDispose](), 60_000);

const lines = (text: string): SessionEvent[] =>
  text.split('\n').map((line) => JSON.parse(line) as SessionEvent);
const idIn = (text: string): string => /session ([a-z0-9]{12})/.exec(text)?.[1] ?? '';

test('the answer is on stdout exactly once and nothing else is; the session is named on stderr', async () => {
  const { code, stdout, stderr } = await rig.holdfast(['run', 'please', 'work']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'It is done.' });
  expect(stderr).toMatch(/^session [a-z0-9]{12}$/m);
  expect(stderr).toContain('On it.');
  expect(stderr).toContain('* bash echo done');
  expect(stderr).toContain(`holdfast resume ${idIn(stderr)}`);
  expect(stderr).not.toContain('\u001B');
});

test('--json prints the events of the run, each seq once and in order, and nothing else', async () => {
  const { code, stdout } = await rig.holdfast(['run', 'work', '--json']);
  expect(code).toBe(0);
  const events = lines(stdout);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events[0]?.type).toBe('session_created');
  expect(events.at(-1)).toMatchObject({ type: 'run_finished', status: 'success' });
});

test('a prompt on stdin, a title, and a session that keeps its own settings', async () => {
  const first = await rig.holdfast(['run', '-', '--title', 'Greetings', '--on-interrupt', 'wait', '--json'], {
    input: 'greet\nme\n',
  });
  const [created, message] = lines(first.stdout);
  expect(created).toMatchObject({
    title: 'Greetings',
    user_id: 'tester',
    workspace: { path: rig.workspace },
  });
  expect(message).toMatchObject({ type: 'user_message', text: 'greet\nme' });
  const id = (created as { session_id: string }).session_id;

  const elsewhere = join(rig.home.root, 'elsewhere');
  await mkdir(elsewhere);
  const second = await rig.holdfast(['run', 'greet again', '--session', id], {
    cwd: elsewhere,
    env: { ...rig.env, HOLDFAST_MODEL: 'another', HOLDFAST_APPROVAL: 'read-only' },
  });
  expect(second).toMatchObject({ code: 0, stdout: 'Hello.\nBe well.' });
  const known = JSON.parse((await rig.holdfast(['show', id, '--json'])).stdout);
  expect(known).toMatchObject({
    session_id: id,
    title: 'Greetings',
    status: 'active',
    run_state: 'idle',
    workspace: { path: rig.workspace },
    settings: { model: 'scripted', approval: 'auto', on_interrupt: 'wait' },
    run_count: 2,
    goal: null,
    plan: null,
  });
  await rig.holdfast(['run', 'greet', '--session', id, '--model', 'scripted-2']);
  const changed = JSON.parse((await rig.holdfast(['show', id, '--json'])).stdout);
  expect(changed.settings).toMatchObject({ model: 'scripted-2', approval: 'auto', on_interrupt: 'wait' });
});

test('the same message id twice is one message, and both runs of the command answer', async () => {
  const args = ['run', 'greet', '--message-id', 'once'];
  const [first, second] = [await rig.holdfast(args), await rig.holdfast(args)];
  expect([first.stdout, second.stdout]).toEqual(['Hello.\nBe well.', 'Hello.\nBe well.']);
  expect(idIn(second.stderr)).toBe(idIn(first.stderr));
  const events = lines((await rig.holdfast(['events', idIn(first.stderr)])).stdout);
  expect(events.filter(({ type }) => type === 'user_message')).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'run_started')).toHaveLength(1);
});

test('a run that fails exits 1 with the reason, and wait says the same', async () => {
  const { code, stdout, stderr } = await rig.holdfast(['run', 'break']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('the run failed');
  expect(await rig.holdfast(['wait', idIn(stderr)])).toMatchObject({ code: 1 });
});

test('a run that waits for approval exits 3 with the command that approves, which lets it end', async () => {
  const { code, stdout, stderr } = await rig.holdfast(['run', 'work', '--approval', 'ask']);
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  const id = idIn(stderr);
  expect(stderr).toContain(`holdfast approve ${id}`);
  expect(await rig.holdfast(['wait', id])).toMatchObject({ code: 3 });
  expect(await rig.holdfast(['approve', id, 'nonsense'])).toMatchObject({ code: 2 });
  expect(await rig.holdfast(['approve', id])).toMatchObject({ code: 0, stderr: 'approved: bash echo done' });
  expect(await rig.holdfast(['wait', id])).toMatchObject({ code: 0 });
  expect(await rig.holdfast(['approve', id])).toMatchObject({ code: 2 });
});

test('denied with a reason, the run goes on and the model is told', async () => {
  const { stderr } = await rig.holdfast(['run', 'work', '--approval', 'ask']);
  const id = idIn(stderr);
  await rig.holdfast(['deny', id, '--reason', 'not today']);
  expect(await rig.holdfast(['wait', id])).toMatchObject({ code: 0 });
  const { stdout } = await rig.holdfast(['context', id, '--json']);
  expect(stdout).toContain('not today');
  expect(Object.keys(JSON.parse(stdout))).toEqual(['messages', 'tools', 'digest', 'tokens_estimate']);
});

test('the first Ctrl+C interrupts the run, with exit code 6', async () => {
  const process = rig.start(['run', 'linger']);
  await untilSaid(process.stderr, '* bash');
  process.kill('SIGINT');
  const { exitCode, stdout, stderr } = await process;
  expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: '' });
  expect(stderr).toContain('! the run was interrupted');
});

test('--detach prints the id at once; --timeout and interrupt end a run', async () => {
  const { code, stdout: id } = await rig.holdfast(['run', 'linger', '--detach']);
  expect(code).toBe(0);
  expect(id).toMatch(/^[a-z0-9]{12}$/);
  await rig.holdfast(['interrupt', id]);
  expect(await rig.holdfast(['wait', id])).toMatchObject({ code: 6 });
  expect(await rig.holdfast(['run', 'linger', '--timeout', '1'])).toMatchObject({ code: 6, stdout: '' });
});

test('a workspace that was removed exits 5, and rebind repairs it', async () => {
  const folder = join(rig.home.root, 'gone');
  await mkdir(folder);
  await symlink(folder, join(rig.home.root, 'link'));
  const first = await rig.holdfast(['run', 'greet', '--workspace', join(rig.home.root, 'link')]);
  const id = idIn(first.stderr);
  await rm(folder, { recursive: true });
  const gone = await rig.holdfast(['run', 'greet', '--session', id]);
  expect({ code: gone.code, stdout: gone.stdout }).toEqual({ code: 5, stdout: '' });
  expect(gone.stderr).toContain(folder);
  const resumed = await rig.holdfast(['resume', id]);
  expect(resumed.stdout).toContain(`The workspace ${folder} is gone`);
  expect(resumed.stdout).toContain(`holdfast rebind ${id} DIR`);
  expect(await rig.holdfast(['rebind', id, rig.workspace])).toMatchObject({ code: 0 });
  expect(await rig.holdfast(['run', 'greet', '--session', id])).toMatchObject({ code: 0 });
});

test('events end quietly when their reader does', async () => {
  const { stdout: id } = await rig.holdfast(['run', 'greet', '--detach']);
  await rig.holdfast(['wait', id]);
  const process = rig.start(['events', id, '--follow'], { buffer: false });
  await once(process.stdout as NodeJS.ReadableStream, 'data');
  (process.stdout as NodeJS.ReadableStream & { destroy: () => void }).destroy();
  await rig.holdfast(['send', id, 'greet']);
  const { exitCode } = await process;
  expect(exitCode).toBe(0);
}, 20_000);

test('resume without a terminal shows the transcript; with --prompt it answers like run', async () => {
  const { stderr } = await rig.holdfast(['run', 'work']);
  const id = idIn(stderr);
  const shown = await rig.holdfast(['resume', id.slice(0, 9)]);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/> work\n(.*\n)*On it\.\n(.*\n)*It is done\./);
  expect(await rig.holdfast(['resume', id, '--prompt', 'greet'])).toMatchObject({
    code: 0,
    stdout: 'Hello.\nBe well.',
  });
  expect(await rig.holdfast(['resume', '--last'])).toMatchObject({ code: 0 });
  expect(await rig.holdfast(['resume'])).toMatchObject({ code: 2 });
});

test('a chat whose prompt is all of stdin ends with its run', async () => {
  expect(await rig.holdfast(['-'], { input: 'greet' })).toMatchObject({
    code: 0,
    stdout: 'Hello.\nBe well.',
  });
});

test('a chat takes its messages from a pipe, one after the other', async () => {
  const { code, stdout } = await rig.holdfast([], { input: 'greet\nwork\ny\n' });
  expect(code).toBe(0);
  expect(stdout).toMatch(/Hello\.\nBe well\.\n(.*\n)*It is done\./);
});

async function untilSaid(stream: NodeJS.ReadableStream | null | undefined, words: string): Promise<void> {
  let text = '';
  await new Promise<void>((resolve) => {
    stream?.on('data', (chunk) => {
      text += String(chunk);
      if (text.includes(words)) resolve();
    });
  });
}
