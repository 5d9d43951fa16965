import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Journal, type OperationRecord } from '../../../src/activities/journal/operation.ts';
import { withReceipt } from '../../../src/activities/model/receipts.ts';
import type { ModelReply } from '../../../src/domain/model.ts';
import { startScriptedModel, type ScriptedModel } from '../../../src/demo/scriptedModel.ts';
import { callTool, stall } from '../../../src/demo/scriptedTurns.ts';

const OPERATION = 'k3v9x2m7q4ta.r1.s1.0';
const REPLY: ModelReply = {
  text: 'Hello 😀',
  reasoning: { provider: 'openai', model: 'm', items: [{ type: 'reasoning' }] },
  tool_calls: [{ call_id: 'a', tool: 'bash', arguments: '{' }],
  usage: null,
  finish_reason: 'tool_calls',
  notes: ['odd'],
};

let root: string;
let record: OperationRecord;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'holdfast-receipt-'));
  record = new Journal(root).operation('k3v9x2m7q4ta', OPERATION);
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

function reply(): Promise<ModelReply> {
  return Promise.resolve(REPLY);
}

async function mustNotCall(): Promise<never> {
  throw new Error('called again');
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('a receipt', () => {
  test('is returned in the place of a second call, field for field', async () => {
    expect(await withReceipt(record, reply)).toEqual(REPLY);
    expect(await withReceipt(record, mustNotCall)).toEqual(REPLY);
  });

  test('of an attempt that still runs in this process is waited for by the next one', async () => {
    const answer = Promise.withResolvers<ModelReply>();
    const frozen = withReceipt(record, async () => answer.promise);
    const next = withReceipt(record, mustNotCall, { attempt: 2 });
    answer.resolve(REPLY);
    expect(await Promise.all([frozen, next])).toEqual([REPLY, REPLY]);
  });

  test('that an attempt failed to get is got by the one that waited for it', async () => {
    const frozen = withReceipt(record, async (): Promise<ModelReply> => {
      throw new Error('aborted');
    });
    const next = withReceipt(record, reply, { attempt: 2 });
    expect(await Promise.allSettled([frozen, next])).toMatchObject([
      { status: 'rejected', reason: { message: 'aborted' } },
      { status: 'fulfilled', value: REPLY },
    ]);
  });

  test('comes after the intent, which says what was asked', async () => {
    await withReceipt(
      record,
      async () => {
        expect(await record.readIntent()).toMatchObject({
          tool: 'call_model',
          attempt: 2,
          plan: { model: 'm' },
        });
        return REPLY;
      },
      { attempt: 2, plan: { model: 'm' } },
    );
  });

  test('is not written for a call that fails', async () => {
    await expect(withReceipt(record, mustNotCall)).rejects.toThrow('called again');
    expect(await withReceipt(record, reply)).toEqual(REPLY);
  });

  test.each([
    ['torn', '{"operation_id":"k3v9x2m7q4ta.r1.s1.0","reply":{"te'],
    ['empty', ''],
    ['zero-filled', '\0'.repeat(64)],
    ['foreign', '{"operation_id":"another","reply":{"text":"not ours","notes":[]}}'],
    ['no object', 'null'],
  ])('that is %s is named, and the call is repeated', async (_, content) => {
    await withReceipt(record, reply);
    await writeFile(record.path('receipt.json'), content);
    const again = await withReceipt(record, reply);
    expect(again.text).toBe(REPLY.text);
    expect(again.notes).toEqual(['odd', expect.stringContaining(record.path('receipt.json'))]);
    expect(again.notes[1]).toContain('called again under the same key');
    expect(await withReceipt(record, mustNotCall)).toEqual(again);
  });
});

describe('a worker that is killed', () => {
  let model: ScriptedModel;
  let children: ChildProcess[];

  beforeEach(() => {
    children = [];
  });

  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await model.close();
  });

  function attempt() {
    const child = spawn(process.execPath, ['test/activities/model/fixtures/callOnce.ts', root, model.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  }

  async function printed(child: ReturnType<typeof attempt>): Promise<ModelReply> {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return JSON.parse(line.toString()) as ModelReply;
  }

  test('after the reply came has its receipt used by the next one: the provider sees one request', async () => {
    model = await startScriptedModel({
      script: () => callTool('bash', { command: 'ls' }, { reasoning: 'hm' }),
    });
    const first = attempt();
    const reply = await printed(first);
    await kill(first);
    expect(await printed(attempt())).toEqual(reply);
    expect(model.requests).toHaveLength(1);
    expect(JSON.parse(await readFile(record.path('receipt.json'), 'utf8'))).toEqual({
      operation_id: OPERATION,
      reply,
    });
  });

  test('in the middle of the reply is followed by a second call under the same key', async () => {
    const turn = callTool('bash', { command: 'ls' });
    const streaming = Promise.withResolvers<void>();
    model = await startScriptedModel({
      script: (_, index) => {
        if (index === 0) streaming.resolve();
        return index === 0 ? stall(60_000, 4, turn) : turn;
      },
    });
    const first = attempt();
    await streaming.promise;
    await kill(first);
    expect(await model.requests[0]?.ended).toBe('aborted');
    expect((await printed(attempt())).tool_calls).toHaveLength(1);
    expect(model.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual([OPERATION, OPERATION]);
  });
});
