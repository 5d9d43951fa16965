/** What happens between the first rename of a patch and the second: the one place that no argument reaches. */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { Fenced } from '../../../src/activities/journal/operation.ts';
import { applyPatch } from '../../../src/activities/tools/applyPatch.ts';
import type { ToolContext } from '../../../src/activities/tools/tool.ts';
import type { FileChange } from '../../../src/activities/workspace/fileChange.ts';
import { makeSandbox, type Sandbox, sha256 } from './sandbox.ts';

const hook = vi.hoisted(() => ({ afterFirst: async (): Promise<void> => {} }));

vi.mock('../../../src/activities/workspace/fileChange.ts', async (original) => {
  const real = await original<typeof import('../../../src/activities/workspace/fileChange.ts')>();
  return {
    ...real,
    apply: async (workspace: string, change: FileChange) => {
      const applied = await real.apply(workspace, change);
      const { afterFirst } = hook;
      hook.afterFirst = async () => {};
      await afterFirst();
      return applied;
    },
  };
});

const args = {
  patch: [
    '*** Begin Patch',
    '*** Update File: a',
    '@@',
    '-a',
    '+A',
    '*** Update File: b',
    '@@',
    '-b',
    '+B',
    '*** Delete File: c',
    '*** End Patch',
  ].join('\n'),
};

let box: Sandbox;
let context: ToolContext;
beforeEach(async () => {
  box = await makeSandbox();
  context = box.context();
  for (const name of ['a', 'b', 'c']) await box.putSeen(name, `${name}\n`);
});

test('a file that somebody changes meanwhile is left alone, and what was done until then is told', async () => {
  hook.afterFirst = () => box.put('b', 'somebody else\n');
  const outcome = await box.run(applyPatch, args, context);
  expect(outcome.status).toBe('failed');
  expect(outcome.output).toMatch(/^PARTLY APPLIED: .*Changed before that: a\. Not changed: b, c\./s);
  expect(outcome.versions).toEqual([{ path: 'a', version: sha256('A\n') }]);
  expect([await box.text('a'), await box.text('b'), await box.text('c')]).toEqual([
    'A\n',
    'somebody else\n',
    'c\n',
  ]);
  expect(await box.leftovers()).toEqual([]);
});

test('a worker that wakes up after its patch was rolled forward is fenced, and the end state is the patch', async () => {
  let reconciliation: unknown;
  hook.afterFirst = async () => {
    reconciliation = await box.reconcile(applyPatch, args, context);
  };
  await expect(box.run(applyPatch, args, context)).rejects.toBeInstanceOf(Fenced);
  expect(reconciliation).toMatchObject({
    status: 'completed',
    evidence: expect.stringContaining('1 of 3 files had been changed'),
    outcome: { status: 'success', versions: [{ path: 'a' }, { path: 'b' }, { path: 'c', version: null }] },
  });
  expect([await box.text('a'), await box.text('b'), box.exists('c')]).toEqual(['A\n', 'B\n', false]);
  expect(await box.leftovers()).toEqual([]);
});

test('a worker that wakes up while its patch is rolled forward ends in the same state', async () => {
  // The reconciler has taken the second file; the worker goes on before it takes the third.
  hook.afterFirst = async () => {
    const intent = await context.operation.readIntent<{ changes: FileChange[] }>();
    const second = intent?.plan.changes[1];
    if (second) await rename(join(box.workspace, second.staged), box.path(second.path));
  };
  await expect(box.run(applyPatch, args, context)).rejects.toBeInstanceOf(Fenced);
  expect(await box.reconcile(applyPatch, args, context)).toMatchObject({ status: 'completed' });
  expect([await box.text('a'), await box.text('b'), box.exists('c')]).toEqual(['A\n', 'B\n', false]);
  expect(await box.leftovers()).toEqual([]);
});
