import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { Fenced } from '../../../src/activities/journal/operation.ts';
import { makeSandbox } from '../workspace/sandbox.ts';

async function makeOperation() {
  const box = await makeSandbox();
  return box.journal.operation('session', 'session.r1.s1.1');
}

test('an intent is there after it was recorded, with the boot and the plan', async () => {
  const operation = await makeOperation();
  expect(await operation.readIntent()).toBeUndefined();
  await operation.recordIntent('bash', 1, { command: 'ls' });
  expect(await operation.readIntent()).toMatchObject({ tool: 'bash', attempt: 1, plan: { command: 'ls' } });
  await operation.recordIntent('bash', 2, { command: 'ls' });
  expect(await operation.readIntent()).toMatchObject({ attempt: 2 });
});

test('a gate that was shut keeps the worker out, and stays shut', async () => {
  const operation = await makeOperation();
  expect(await operation.closeGate(1)).toBe('closed');
  await expect(operation.enterGate(1, 'late')).rejects.toBeInstanceOf(Fenced);
  expect(await operation.closeGate(1)).toBe('closed');
});

test('a gate that was entered can not be shut, and says who entered', async () => {
  const operation = await makeOperation();
  await operation.recordIntent('bash', 1, {});
  await operation.enterGate(1, 'host/boot/1/2');
  expect(await operation.closeGate(1)).toBe('entered');
  await expect(operation.enterGate(1, 'twice')).rejects.toBeInstanceOf(Fenced);
  expect(await readFile(operation.gatePath(1), 'utf8')).toMatch(/^entered host\/boot\/1\/2 /);
});

test('each attempt has a gate of its own', async () => {
  const operation = await makeOperation();
  await operation.closeGate(1);
  await operation.enterGate(2, 'second');
  expect(await operation.closeGate(2)).toBe('entered');
});

test('of many that try at once, worker or reconciler, exactly one decides', async () => {
  const operation = await makeOperation();
  await operation.recordIntent('bash', 1, {});
  const tries = Array.from({ length: 20 }, async (_, index) => {
    if (index % 2 === 0) return (await operation.closeGate(1)) === 'closed' ? 'closed' : 'saw it entered';
    return operation.enterGate(1, `w${index}`).then(
      () => 'entered',
      () => 'fenced',
    );
  });
  const results = await Promise.all(tries);
  const entered = results.filter((result) => result === 'entered').length;
  expect(entered).toBeLessThanOrEqual(1);
  expect(await operation.closeGate(1)).toBe(entered === 1 ? 'entered' : 'closed');
});

test('a torn journal file is named and not taken for nothing', async () => {
  const operation = await makeOperation();
  await operation.recordIntent('bash', 1, {});
  await writeFile(operation.path('intent.json'), '{"operation_id": "ses');
  await expect(operation.readIntent()).rejects.toThrow(
    /Expected JSON in the journal file .*intent\.json, found/,
  );
  await writeFile(operation.path('zero.json'), Buffer.alloc(16));
  await expect(operation.readProof('zero.json')).rejects.toThrow('zero.json');
});
