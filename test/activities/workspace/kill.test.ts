import { existsSync, readFileSync } from 'node:fs';
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

const patch = {
  patch:
    '*** Begin Patch\n*** Update File: a.txt\n@@\n-before\n+after\n' +
    '*** Add File: new/b.txt\n+b\n*** Delete File: c.txt\n*** End Patch',
};

/** What can be seen of a patch on its way; the kill comes as soon as it is seen, and lands at or after it. */
const MILESTONES: [string, () => boolean][] = [
  ['its intent', () => existsSync(context.operation.path('intent.json'))],
  ['its first staged copy', () => box.exists('.holdfast-op.fate-1-0.tmp')],
  ['its last staged copy', () => box.exists('.holdfast-op.fate-1-2.tmp')],
  ['its gate', () => existsSync(context.operation.gatePath(1))],
  ['its first rename', () => readFileSync(box.path('a.txt'), 'utf8') === 'after\n'],
  ['its second rename', () => box.exists('new/b.txt')],
];

test.each(MILESTONES)(
  'a worker killed at %s: the patch is all done or not begun, and nothing is left',
  async (_, seen) => {
    await box.putSeen('c.txt', 'c\n');
    const worker = startWorker(applyPatch, patch, 'none');
    const ended = new AbortController();
    const end = worker.finally(() => ended.abort());
    // It may have finished before it was seen, where the machine is busy.
    while (!seen() && !ended.signal.aborted) await new Promise((resolve) => setImmediate(resolve));
    worker.kill('SIGKILL');
    await end;
    const { status } = await box.reconcile(applyPatch, patch, context);
    expect(['completed', 'not_run']).toContain(status);
    const now = [await box.text('a.txt'), box.exists('new/b.txt'), box.exists('c.txt')];
    expect(now).toEqual(status === 'completed' ? ['after\n', true, false] : ['before\n', false, true]);
    expect(await box.leftovers()).toEqual([]);
  },
);

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
