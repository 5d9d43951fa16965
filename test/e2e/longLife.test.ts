import { open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../src/client/service.ts';
import type { Service } from '../../src/client/service.ts';
import { newSessionId } from '../../src/client/ids.ts';
import type { SeenRequest } from '../../src/demo/scriptedRequest.ts';
import { callTool, say } from '../../src/demo/scriptedTurns.ts';
import { sizeOf } from '../../src/demo/smallModel.ts';
import type { SessionSettings } from '../../src/domain/event.ts';
import { hostId } from '../../src/host/home.ts';
import { writeLongSession } from '../../bench/longSession.ts';
import { sharedWorlds } from '../support/sharedWorlds.ts';
import { all, checkLog, until, type World } from '../support/world.ts';
import { startSession } from './support/rollingSession.ts';
import { forgetRuns } from './support/temporalRuns.ts';

const createWorld = sharedWorlds();

/** Of the first turn; each is a few of Temporal's events. */
const STEPS = 14;
const ROLL_OVER_EVENTS = 30;

/** A session that has continued as new at least four times, and a connection to look below it. */
async function longSession(): Promise<{ world: World; service: Service; id: string } & AsyncDisposable> {
  const world = await createWorld(({ step, messages }) => {
    const turns = messages.filter(({ role }) => role === 'user').length;
    return turns === 1 && step < STEPS
      ? callTool('read_file', { path: 'a.txt', offset: step })
      : say(`answer ${turns}`);
  });
  await writeFile(join(world.workspace, 'a.txt'), 'line\n'.repeat(STEPS));
  await world.up();
  const service = await connect(world.home, world.env);
  const id = await startSession(world, { history_events: ROLL_OVER_EVENTS });
  expect((await world.wait(id)).code).toBe(0);
  return {
    world,
    service,
    id,
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

test('when retention has taken all Temporal runs but the newest, a session is whole, shown, and goes on', async () => {
  await using session = await longSession();
  const { world, service, id } = session;
  const before = await world.events(id);
  expect(await forgetRuns(service, id, 'all but the newest')).toBeGreaterThanOrEqual(4);
  // The next worker knows nothing but what the archive and the newest run say.
  await world.kill('worker');

  const events = await world.events(id);
  checkLog(events);
  expect(events).toEqual(before);
  expect(await world.facts(id)).toMatchObject({ last_seq: events.length, run_count: 1, run_state: 'idle' });
  const { messages } = await world.json<{ messages: { content: string }[] }>('context', id);
  expect(messages.filter(({ content }) => content === 'go')).toHaveLength(1);
  const resumed = await world.cli(['resume', id, '--prompt', 'and now']);
  expect(resumed).toMatchObject({ code: 0, stdout: 'answer 2\n' });
  expect((await world.cli(['run', 'once more', '--session', id])).stdout).toBe('answer 3\n');
  // The model was sent the whole conversation, not what is left in Temporal.
  expect(world.model.requests.at(-1)?.messages.filter(({ role }) => role === 'tool')).toHaveLength(STEPS);
  checkLog(await world.events(id));
}, 120_000);

test('an archived session that Temporal has forgotten is read, shown, and opened again under its id', async () => {
  await using session = await longSession();
  const { world, service, id } = session;
  await world.cli(['compact', id]);
  await world.cli(['archive', id]);
  await world.event(id, 'session_archived');
  // What is in the archive needs no other proof.
  await until(async () => (await readdir(join(world.home.journal, id))).length === 0);
  const before = await world.events(id);
  expect(await forgetRuns(service, id, 'all')).toBeGreaterThanOrEqual(5);
  await world.kill('worker');

  expect(await world.events(id)).toEqual(before);
  expect(await world.facts(id)).toMatchObject({ status: 'archived', last_seq: before.length });
  expect(await world.cli(['resume', id, '--prompt', 'are you there?'])).toMatchObject({
    code: 0,
    stdout: 'answer 2\n',
  });
  const events = await world.events(id);
  checkLog(events);
  expect(events.slice(0, before.length)).toEqual(before);
  expect(all(events, 'session_reopened')).toHaveLength(1);
  expect(await world.facts(id)).toMatchObject({ status: 'active', run_count: 2, last_seq: events.length });
}, 120_000);

test('a damaged segment is named by `events`, which reads on behind it; `show` and `resume` work', async () => {
  await using session = await longSession();
  const { world, service, id } = session;
  const before = await world.events(id);
  const segments = await Array.fromAsync(service.archive.from(id, 1));
  const middle = segments[2];
  if (middle === undefined) throw new Error(`Expected three segments, found ${segments.length}.`);
  const path = join(world.home.archive, id, '000003.jsonl');
  await flipByte(path, Math.floor(middle.bytes / 2));

  const { code, stdout, stderr } = await world.cli(['events', id]);
  expect(code).toBe(2);
  expect(stderr).toContain(path);
  expect(stderr).toContain(`--from ${middle.through_seq + 1}`);
  expect(stdout.trim().split('\n')).toHaveLength(middle.from_seq - 1);
  const rest = await world.cli(['events', id, '--from', String(middle.through_seq + 1)]);
  expect(rest.code).toBe(0);
  expect(rest.stdout).toBe(
    before
      .slice(middle.through_seq)
      .map((event) => `${JSON.stringify(event)}\n`)
      .join(''),
  );

  expect(await world.facts(id)).toMatchObject({ last_seq: before.length, run_state: 'idle' });
  expect(await world.cli(['resume', id, '--prompt', 'still there?'])).toMatchObject({
    code: 0,
    stdout: 'answer 2\n',
  });
  // A worker that has to read it anew tells the model what is lost, and goes on.
  await world.kill('worker');
  expect(await world.cli(['resume', id, '--prompt', 'and for another worker?'])).toMatchObject({ code: 0 });
  const [lost] = (world.model.requests.at(-1)?.messages ?? []).filter(({ text }) =>
    text.startsWith('<lost>'),
  );
  expect(lost?.text).toContain(`events ${middle.from_seq} to ${middle.through_seq}.`);
  // The transcript says what it can't show, and the conversation goes on.
  const chat = await world.cli(['resume', id], { input: 'and in a chat?\n' });
  expect(chat.stdout).toContain(path);
  expect(chat.stdout).toMatch(/answer \d/);
}, 120_000);

test('a session of 50 MB with a patch of 5,000 lines goes on with its summary and last steps, and all of it can be read', async () => {
  await using world = await createWorld(() => say('here I am'));
  await world.up();
  const session_id = newSessionId();
  const settings: SessionSettings = {
    model: 'scripted',
    api: 'chat',
    base_url: world.model.url,
    approval: 'auto',
    on_interrupt: 'continue',
    context_window: 272_000,
  };
  const workspace = { host: await hostId(world.home), path: world.workspace };
  const long = { session_id, workspace, settings, bytes: 50_000_000, patch_lines: 5_000 };
  await writeLongSession(world.home.archive, long);

  expect(await world.cli(['resume', session_id, '--prompt', 'are you there?'])).toMatchObject({
    code: 0,
    stdout: 'here I am\n',
  });
  const [request] = world.model.requests;
  expect(request?.messages[1]?.text).toContain('<summary>');
  expect(JSON.stringify(request?.messages).includes('const line4999 = 4999;')).toBe(true);
  expect(sizeOf(request as SeenRequest)).toBeLessThan(1_200_000);
  const { last_seq, run_count } = await world.facts(session_id);
  expect(last_seq).toBeGreaterThan(10_000);
  expect(run_count).toBeGreaterThan(100);
  const end = await world.cli(['events', session_id, '--from', String(last_seq - 3)]);
  expect(end.stdout.trim().split('\n')).toHaveLength(4);
  checkLog(await world.events(session_id));
}, 120_000);

async function flipByte(path: string, position: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const byte = Buffer.alloc(1);
    await file.read(byte, 0, 1, position);
    await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, position);
  } finally {
    await file.close();
  }
}
