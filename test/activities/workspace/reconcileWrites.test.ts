import { appendFile, mkdir, rename, rm, writeFile as writeRaw } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { Fenced } from '../../../src/activities/journal/operation.ts';
import { applyPatch } from '../../../src/activities/tools/applyPatch.ts';
import { editFile } from '../../../src/activities/tools/editFile.ts';
import type { Tool, ToolContext } from '../../../src/activities/tools/tool.ts';
import { writeFile } from '../../../src/activities/tools/writeFile.ts';
import type { FileChange } from '../../../src/activities/workspace/fileChange.ts';
import type { WritePlan } from '../../../src/activities/workspace/writeChanges.ts';
import { makeSandbox, type Sandbox, sha256 } from './sandbox.ts';

let box: Sandbox;
let context: ToolContext;
beforeEach(async () => {
  box = await makeSandbox();
  context = box.context();
  await box.putSeen('a.txt', 'before\n');
});

const edit = { path: 'a.txt', old_text: 'before', new_text: 'after' };

/** Runs a tool whose worker freezes for good just after it has gone through its gate. */
async function loseAtGate(tool: Tool, args: unknown): Promise<FileChange[]> {
  const { operation } = context;
  const enter = operation.enterGate.bind(operation);
  const entered = Promise.withResolvers<void>();
  operation.enterGate = async (attempt, by) => {
    await enter(attempt, by);
    entered.resolve();
    await new Promise(() => {});
  };
  await Promise.race([entered.promise, tool.run(tool.schema.parse(args), context)]);
  return (await operation.readIntent<WritePlan>())?.plan.changes ?? [];
}

async function finishRename(change: FileChange | undefined): Promise<void> {
  if (change) await rename(join(box.workspace, change.staged), box.path(change.path));
}

test('without an intent it was not run, and a late worker is fenced', async () => {
  const found = await box.reconcile(editFile, edit, context);
  expect(found).toMatchObject({
    status: 'not_run',
    evidence: expect.stringContaining('No intent was recorded'),
  });
  await expect(box.run(editFile, edit, context)).rejects.toBeInstanceOf(Fenced);
  expect(await box.text('a.txt')).toBe('before\n');
  expect(await box.leftovers()).toEqual([]);
});

test('with an intent and a gate that nobody entered it was not run, and what was staged is gone', async () => {
  const outcome = { status: 'success' as const, output: 'Edited.' };
  const change = {
    path: 'a.txt',
    before: sha256('before\n'),
    after: sha256('after\n'),
    mode: null,
    staged: '.holdfast-op-1-0.tmp',
  };
  await context.operation.recordIntent<WritePlan>('edit_file', 1, { changes: [change], outcome });
  await box.put('.holdfast-op-1-0.tmp', 'after\n');
  expect(await box.reconcile(editFile, edit, context)).toMatchObject({ status: 'not_run' });
  expect(await box.leftovers()).toEqual([]);
  // Asked again, since an answer can be lost too.
  expect(await box.reconcile(editFile, edit, context)).toMatchObject({ status: 'not_run' });
});

test('entered, and the file is as before: not run', async () => {
  await loseAtGate(editFile, edit);
  const found = await box.reconcile(editFile, edit, context);
  expect(found).toMatchObject({ status: 'not_run', evidence: expect.stringContaining('never happened') });
  expect(await box.reconcile(editFile, edit, context)).toMatchObject({ status: 'not_run' });
  expect(await box.text('a.txt')).toBe('before\n');
  expect(await box.leftovers()).toEqual([]);
});

test('entered, and the file is as after: completed, with the outcome of an undisturbed run', async () => {
  const undisturbed = await box.run(editFile, edit, context);
  const found = await box.reconcile(editFile, edit, context);
  expect(found).toMatchObject({ status: 'completed', outcome: undisturbed });
  expect(found.evidence).toContain(sha256('after\n'));
});

test('a file that was created is completed as well, and one that was not is not run', async () => {
  const create = { path: 'new/b.txt', content: 'b' };
  await loseAtGate(writeFile, create);
  expect(await box.reconcile(writeFile, create, context)).toMatchObject({ status: 'not_run' });
  expect(box.exists('new')).toBe(false);
  context = box.context();
  const undisturbed = await box.run(writeFile, create, context);
  expect(await box.reconcile(writeFile, create, context)).toMatchObject({
    status: 'completed',
    outcome: undisturbed,
  });
});

test('entered, and the file is neither as before nor as after: unknown, with all three hashes', async () => {
  const [change] = await loseAtGate(editFile, edit);
  await finishRename(change);
  await appendFile(box.path('a.txt'), 'and somebody else\n');
  const found = await box.reconcile(editFile, edit, context);
  expect(found.status).toBe('unknown');
  expect(found.evidence).toContain('a.txt');
  for (const text of ['before\n', 'after\n', 'after\nand somebody else\n'])
    expect(found.evidence).toContain(sha256(text));
});

test('neither, but what was staged is still there: it never happened, whoever changed the file', async () => {
  await loseAtGate(editFile, edit);
  await box.put('a.txt', 'somebody else\n');
  const found = await box.reconcile(editFile, edit, context);
  expect(found).toMatchObject({
    status: 'not_run',
    evidence: expect.stringContaining(sha256('somebody else\n')),
  });
  // The proof is kept: a second look does not fall back to unknown.
  expect(await box.reconcile(editFile, edit, context)).toMatchObject({ status: 'not_run' });
  // Run once more, as the session does after not_run: the model is told the truth.
  const operation = box.journal.operation('session', context.operation.operation_id);
  const again = box.context({ operation, attempt: 2 });
  expect((await box.run(editFile, edit, again)).output).toMatch(/^FILE_CHANGED/);
  expect(await box.text('a.txt')).toBe('somebody else\n');
});

test('after not_run a second attempt has the effect once', async () => {
  await loseAtGate(editFile, edit);
  await box.reconcile(editFile, edit, context);
  const operation = box.journal.operation('session', context.operation.operation_id);
  const again = box.context({ operation, attempt: 2 });
  expect(await box.run(editFile, edit, again)).toMatchObject({ status: 'success' });
  // A reconciler of the first attempt that comes late leaves the second alone.
  expect(await box.reconcile(editFile, edit, { ...again, attempt: 1 })).not.toMatchObject({
    status: 'completed',
  });
  expect(await box.reconcile(editFile, edit, again)).toMatchObject({ status: 'completed' });
  expect(await box.text('a.txt')).toBe('after\n');
});

test('a torn intent is named, and is not taken for nothing', async () => {
  await loseAtGate(editFile, edit);
  await writeRaw(context.operation.path('intent.json'), '{"plan": {"chan');
  const found = await box.reconcile(editFile, edit, context);
  expect(found).toMatchObject({ status: 'unknown', evidence: expect.stringContaining('intent.json') });
});

const patch = {
  patch: [
    '*** Begin Patch',
    '*** Update File: a.txt',
    '@@',
    '-before',
    '+after',
    '*** Add File: new/b.txt',
    '+b',
    '*** Delete File: c.txt',
    '*** End Patch',
  ].join('\n'),
};

async function losePatch(): Promise<FileChange[]> {
  await box.putSeen('c.txt', 'c\n');
  return loseAtGate(applyPatch, patch);
}

test('a patch of which nothing was renamed was not run', async () => {
  await losePatch();
  expect(await box.reconcile(applyPatch, patch, context)).toMatchObject({ status: 'not_run' });
  expect([await box.text('a.txt'), box.exists('new'), box.exists('c.txt')]).toEqual([
    'before\n',
    false,
    true,
  ]);
  expect(await box.leftovers()).toEqual([]);
});

test('a patch of which all was renamed is completed', async () => {
  await box.putSeen('c.txt', 'c\n');
  const undisturbed = await box.run(applyPatch, patch, context);
  expect(await box.reconcile(applyPatch, patch, context)).toMatchObject({
    status: 'completed',
    outcome: undisturbed,
  });
});

test('a patch that was begun is rolled forward from what is staged, and says so', async () => {
  const [first] = await losePatch();
  await finishRename(first);
  const found = await box.reconcile(applyPatch, patch, context);
  expect(found).toMatchObject({ status: 'completed', outcome: { status: 'success' } });
  expect(found.evidence).toContain(
    '1 of 3 files had been changed when the worker was lost; the rest was rolled forward',
  );
  expect([await box.text('a.txt'), await box.text('new/b.txt'), box.exists('c.txt')]).toEqual([
    'after\n',
    'b\n',
    false,
  ]);
  expect(await box.leftovers()).toEqual([]);
  expect(await box.reconcile(applyPatch, patch, context)).toMatchObject({ status: 'completed' });
});

test('a patch whose deletion was cut short before the sweeping is completed and swept', async () => {
  const changes = await losePatch();
  await mkdir(box.path('new'));
  await finishRename(changes[0]);
  await finishRename(changes[1]);
  const deletion = changes[2];
  if (deletion) await rename(box.path('c.txt'), join(box.workspace, deletion.staged, 'deleted'));
  expect(await box.reconcile(applyPatch, patch, context)).toMatchObject({ status: 'completed' });
  expect(await box.leftovers()).toEqual([]);
});

test('a patch that was begun and whose staged files are lost is unknown, file by file', async () => {
  const [first, second] = await losePatch();
  await finishRename(first);
  if (second) await rm(join(box.workspace, second.staged));
  const found = await box.reconcile(applyPatch, patch, context);
  expect(found.status).toBe('unknown');
  expect(found.evidence).toMatch(
    /^a\.txt: .*as after the call\.$|a\.txt: sha256 now \w+, as after the call\./m,
  );
  expect(found.evidence).toMatch(/new\/b\.txt: sha256 now no file, as before the call\./);
  expect(await box.leftovers()).toEqual([]);
});

test('a patch that was begun, and one of whose files somebody changed, is unknown and goes no further', async () => {
  const [first] = await losePatch();
  await finishRename(first);
  await box.put('c.txt', 'somebody else\n');
  const found = await box.reconcile(applyPatch, patch, context);
  expect(found).toMatchObject({
    status: 'unknown',
    evidence: expect.stringContaining(sha256('somebody else\n')),
  });
  expect(box.exists('new/b.txt')).toBe(false);
  expect(await box.text('c.txt')).toBe('somebody else\n');
  expect(await box.leftovers()).toEqual([]);
});
