import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { findTemporal } from '../../src/server/binary.ts';
import { lackingSearchAttributes, MAX_RETENTION_DAYS, prepareNamespace } from '../../src/server/namespace.ts';
import { choosePorts } from '../../src/server/ports.ts';
import { grpcAddress, serverArguments } from '../../src/server/serverCommand.ts';
import { untilServing } from '../../src/server/serving.ts';
import { cleanUp, tempFolder } from './support.ts';

const processes: ChildProcess[] = [];

afterEach(async () => {
  for (const child of processes.splice(0)) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await cleanUp();
});

/** A server such as somebody else may have started: none of our search attributes, retention of a day. */
async function foreignServer(): Promise<Connection> {
  const folder = await tempFolder();
  const { path } = await findTemporal();
  const ports = await choosePorts(folder);
  const args = serverArguments(ports, join(folder, 'temporal.db'));
  const plain = args.slice(0, args.indexOf('--search-attribute'));
  processes.push(spawn(path, plain, { stdio: 'ignore' }));
  return await untilServing(grpcAddress(ports), 'default', AbortSignal.timeout(20_000));
}

async function denied(): Promise<never> {
  throw Object.assign(new Error('7 PERMISSION_DENIED: Request unauthorized.'), { code: 7 });
}

test('a namespace that lacks everything is prepared, by two at once and again', async () => {
  const connection = await foreignServer();
  try {
    expect((await lackingSearchAttributes(connection, 'default')).missing).toHaveLength(10);
    const both = await Promise.all([1, 2].map(async () => await prepareNamespace(connection, 'default')));
    for (const report of both)
      expect(report).toMatchObject({ retention_days: MAX_RETENTION_DAYS, problems: [] });
    expect(new Set(both.flatMap(({ added }) => added)).size).toBe(10);
    expect(await prepareNamespace(connection, 'default')).toEqual({
      namespace: 'default',
      retention_days: MAX_RETENTION_DAYS,
      added: [],
      problems: [],
    });

    // An end a hundred years from now must not overflow anywhere and delete the session at once.
    const client = new Client({ connection });
    const session = await client.workflow.start('session', { workflowId: 'kept', taskQueue: 'nobody' });
    await session.terminate();
    expect((await session.describe()).status.name).toBe('TERMINATED');
  } finally {
    await connection.close();
  }
});

test('a retention is never lowered, and what an operator must do is said where the right is missing', async () => {
  const connection = await foreignServer();
  try {
    expect(await prepareNamespace(connection, 'default', { retentionDays: 3 })).toMatchObject({
      retention_days: 3,
    });
    expect(await prepareNamespace(connection, 'default', { retentionDays: 2 })).toMatchObject({
      retention_days: 3,
    });
    const restricted = Object.create(connection, {
      operatorService: { value: { listSearchAttributes: denied, addSearchAttributes: denied } },
      workflowService: {
        value: Object.create(connection.workflowService, { updateNamespace: { value: denied } }) as unknown,
      },
    }) as Connection;
    const { problems, retention_days } = await prepareNamespace(restricted, 'default');
    expect(retention_days).toBe(3);
    expect(problems).toEqual([
      expect.stringMatching(
        /^Expected a retention of 36500 days.*found 3,.*PERMISSION_DENIED.*--retention 36500d$/,
      ),
      expect.stringMatching(
        /^Expected search attributes HoldfastStatus,.*PERMISSION_DENIED.*search-attribute create/,
      ),
    ]);
  } finally {
    await connection.close();
  }
});

test('a namespace that is not there rejects', async () => {
  const connection = await foreignServer();
  try {
    await expect(prepareNamespace(connection, 'nowhere')).rejects.toThrow(/not found/i);
  } finally {
    await connection.close();
  }
});
