import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeEach, expect, test } from 'vitest';
import { applyPatch } from '../../../src/activities/tools/applyPatch.ts';
import { editFile } from '../../../src/activities/tools/editFile.ts';
import type { Tool, ToolContext } from '../../../src/activities/tools/tool.ts';
import { makeSandbox, type Sandbox } from './sandbox.ts';

const FIXTURE = fileURLToPath(new URL('writer.fixture.ts', import.meta.url));
const STOPPED_POLL_MS = 10;

const edit = { path: 'a.txt', old_text: 'before', new_text: 'after' };
const deletion = { patch: '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch' };

let box: Sandbox;
let context: ToolContext;
beforeEach(async () => {
  box = await makeSandbox();
  await box.putSeen('a.txt', 'before\n');
  context = box.context({ operation: box.journal.operation('session', 'op.fate') });
});

function startWorker(tool: Tool, args: unknown, fate: string) {
  const seen = JSON.stringify(Object.fromEntries(box.seen));
  const argv = [FIXTURE, box.root, tool.name, JSON.stringify(args), seen, fate];
  return execa(process.execPath, argv, { reject: false });
}

/** A stopped process tells nobody but its parent, and Node does not pass it on: so it is asked for. */
async function untilStopped(pid: number | undefined): Promise<void> {
  for (;;) {
    const { stdout } = await execa('ps', ['-o', 'state=', '-p', String(pid)]);
    if (stdout.startsWith('T')) return;
    await new Promise((resolve) => setTimeout(resolve, STOPPED_POLL_MS));
  }
}

test('a worker killed between its gate and its rename: not run, and nothing is left', async () => {
  expect((await startWorker(editFile, edit, 'kill')).signal).toBe('SIGKILL');
  expect(await box.leftovers()).toHaveLength(1);
  expect(await box.reconcile(editFile, edit, context)).toMatchObject({ status: 'not_run' });
  expect(await box.text('a.txt')).toBe('before\n');
  expect(await box.leftovers()).toEqual([]);
});

test('a worker killed between its effect and its answer: the effect is there once, the outcome arrives', async () => {
  expect((await startWorker(editFile, edit, 'kill-after')).signal).toBe('SIGKILL');
  const found = await box.reconcile(editFile, edit, context);
  expect(found).toMatchObject({
    status: 'completed',
    outcome: { status: 'success', versions: [{ path: 'a.txt' }] },
  });
  expect(await box.text('a.txt')).toBe('after\n');
});

test('whenever a worker is killed, a patch is found all done or not begun, and nothing is left', async () => {
  const patch =
    '*** Begin Patch\n*** Update File: a.txt\n@@\n-before\n+after\n' +
    '*** Add File: new/b.txt\n+b\n*** Delete File: c.txt\n*** End Patch';
  const statuses = new Set<string>();
  for (let delay_ms = 0; delay_ms < 16; delay_ms += 2) {
    box = await makeSandbox();
    await box.putSeen('a.txt', 'before\n');
    await box.putSeen('c.txt', 'c\n');
    context = box.context({ operation: box.journal.operation('session', 'op.fate') });
    const worker = startWorker(applyPatch, { patch }, 'ready');
    await new Promise((resolve) => worker.stderr?.once('data', resolve));
    await new Promise((resolve) => setTimeout(resolve, delay_ms));
    worker.kill('SIGKILL');
    await worker;
    const { status } = await box.reconcile(applyPatch, { patch }, context);
    statuses.add(status);
    const now = [await box.text('a.txt'), box.exists('new/b.txt'), box.exists('c.txt')];
    expect(now).toEqual(status === 'completed' ? ['after\n', true, false] : ['before\n', false, true]);
    expect(await box.leftovers()).toEqual([]);
  }
  expect([...statuses].filter((status) => status !== 'completed' && status !== 'not_run')).toEqual([]);
});

test.each([
  ['an edit', editFile, edit],
  ['a deletion', applyPatch, deletion],
])('a frozen worker that wakes up after it was settled has no effect: %s', async (_, tool, args) => {
  const worker = startWorker(tool, args, 'stop');
  await untilStopped(worker.pid);
  expect(await box.reconcile(tool, args, context)).toMatchObject({ status: 'not_run' });
  worker.kill('SIGCONT');
  expect((await worker).stdout).toBe('Fenced');
  expect(await box.text('a.txt')).toBe('before\n');
  expect(await box.leftovers()).toEqual([]);
});
