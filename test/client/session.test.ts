import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createSession, type NewSession } from '../../src/client/create.ts';
import { readEvents } from '../../src/client/events.ts';
import { facts } from '../../src/client/facts.ts';
import { follow, type ConnectionChange } from '../../src/client/follow.ts';
import { newSessionId, sessionIdForMessage } from '../../src/client/ids.ts';
import { listSessions } from '../../src/client/list.ts';
import { resolveId } from '../../src/client/resolve.ts';
import { followRun } from '../../src/client/run.ts';
import { archive, reopen, sendMessage } from '../../src/client/send.ts';
import { connect, type Service } from '../../src/client/service.ts';
import { waitIdle } from '../../src/client/wait.ts';
import { scriptByText } from '../../src/demo/scriptedSteps.ts';
import { callTool, say } from '../../src/demo/scriptedTurns.ts';
import type { SessionEvent } from '../../src/domain/event.ts';
import { hostId } from '../../src/host/home.ts';
import { ensureUp, readStatus } from '../../src/server/installation.ts';
import { holdfastRig, type HoldfastRig } from '../support/holdfast.ts';
import { temporaryHome } from '../support/temporaryHome.ts';

let rig: HoldfastRig;
let service: Service;
let session: NewSession;

beforeAll(async () => {
  rig = await holdfastRig(
    scriptByText([
      { when: 'work', steps: [callTool('bash', { command: 'echo a' }), say('worked')] },
      { when: 'long', steps: [callTool('bash', { command: 'sleep 4; echo b' }), say('done at last')] },
    ]),
  );
  service = await connect(rig.home, rig.env);
  session = {
    user_id: 'tester',
    workspace: { host: await hostId(rig.home), path: rig.workspace },
    settings: {
      model: 'scripted',
      api: 'chat',
      base_url: rig.model.url,
      approval: 'auto',
      on_interrupt: 'continue',
    },
    text: 'work',
  };
}, 60_000);
afterAll(async () => {
  await service?.close();
  await rig?.[Symbol.asyncDispose]();
}, 60_000);

const never = new AbortController().signal;

async function allEvents(session_id: string, from = 1): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of readEvents(service, session_id, from)) events.push(event);
  return events;
}

test('a follower and a reader get each event once and in order across continue-as-new', async () => {
  const { session_id } = await createSession(service, { ...session, roll_over: { history_events: 25 } });
  const seen: SessionEvent[] = [];
  const stop = new AbortController();
  const following = follow(service, session_id, {
    onEvent: (event) => void seen.push(event),
    signal: stop.signal,
  });
  for (let count = 0; count < 5; count++) {
    await sendMessage(service, session_id, { text: `work ${count}` });
    await waitIdle(service, session_id, { signal: never });
  }
  const events = await allEvents(session_id);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect((await Array.fromAsync(service.archive.from(session_id, 1))).length).toBeGreaterThan(1);
  await vi.waitFor(() => expect(seen.length).toBe(events.length), 5_000);
  expect(seen).toEqual(events);
  expect(await allEvents(session_id, 12)).toEqual(events.slice(11));
  stop.abort();
  expect(await following).toBe('aborted');
}, 60_000);

test('a run is followed through the deaths of worker and server', async () => {
  const sent = await createSession(service, { ...session, text: 'long' });
  const seen: number[] = [];
  const changes: ConnectionChange[] = [];
  let killed = false;
  const run = await followRun(service, sent.session_id, sent.message_id, {
    from: 1,
    signal: never,
    onEvent: async (event) => {
      seen.push(event.seq);
      if (event.type !== 'tool_call' || killed) return;
      killed = true;
      const { server, worker } = await readStatus(rig.home);
      for (const part of [worker, server]) process.kill(part?.pid ?? 0, 'SIGKILL');
    },
    onConnection: (change) => changes.push(change),
    onWaiting: () => false,
  });
  expect(run).toMatchObject({ answer: 'done at last', outcome: { status: 'success', exit_code: 0 } });
  expect(seen).toEqual(seen.map((_, index) => index + 1));
  expect(changes).toContainEqual({ part: 'worker', reachable: false });
}, 60_000);

test.each(['', 'x'.repeat(201)])('a message id of %j is refused', async (message_id) => {
  const refusal = { code: 'message.id', message: expect.stringContaining(`found ${message_id.length}.`) };
  await expect(createSession(service, { ...session, message_id })).rejects.toMatchObject(refusal);
  await expect(sendMessage(service, newSessionId(), { text: 'x', message_id })).rejects.toMatchObject(
    refusal,
  );
});

test('an id may be shortened while it is unique; a whole id is found at once', async () => {
  const byLetter = new Map<string, string>();
  let ids: string[] = [];
  for (let count = 0; ids.length === 0; count++) {
    const message_id = `prefix-${count}`;
    const id = sessionIdForMessage({ message_id, user_id: 'tester', path: rig.workspace });
    const other = byLetter.get(id.slice(0, 2));
    if (other !== undefined) ids = [other, message_id];
    byLetter.set(id.slice(0, 2), message_id);
  }
  const made = [];
  for (const message_id of ids) {
    const { session_id } = await createSession(service, { ...session, message_id });
    expect(await resolveId(service, session_id)).toBe(session_id);
    made.push(session_id);
  }
  const [first = '', second = ''] = made;
  await vi.waitFor(async () => expect(await resolveId(service, second.slice(0, 11))).toBe(second), 5_000);
  await expect(resolveId(service, first.slice(0, 2))).rejects.toMatchObject({
    code: 'session.ambiguous',
    exitCode: 2,
    message: expect.stringMatching(new RegExp(`(${first}.*${second})|(${second}.*${first})`)),
  });
});

test.each(['zzzzzzzzzzz0', 'nope!', '', "x' OR 'a'='a", 'a'.repeat(500)])(
  'what is no id (%s) is refused and never makes a session',
  async (id) => {
    const before = await listSessions(service, { status: 'all' });
    await expect(resolveId(service, id)).rejects.toMatchObject({ code: 'session.not_found', exitCode: 2 });
    await expect(sendMessage(service, id, { text: 'work' })).rejects.toMatchObject({
      code: 'session.not_found',
    });
    expect(await listSessions(service, { status: 'all' })).toHaveLength(before.length);
  },
);

test('an archived session is listed once, read from the archive, and opened again under its id', async () => {
  const { session_id } = await createSession(service, { ...session, title: 'To the archive' });
  await waitIdle(service, session_id, { signal: never });
  const stop = new AbortController();
  const following = follow(service, session_id, { onEvent: () => {}, signal: stop.signal });
  await archive(service, session_id);
  expect(await following).toBe('closed');
  await archive(service, session_id);
  const closed = await allEvents(session_id);
  expect(closed.at(-1)?.type).toBe('session_archived');
  const listed = async (status?: 'archived' | 'all'): Promise<unknown[]> =>
    (await listSessions(service, status ? { status } : {})).filter((one) => one.session_id === session_id);
  await vi.waitFor(
    async () => expect(await listed('archived')).toMatchObject([{ status: 'archived' }]),
    5_000,
  );
  expect(await listed()).toEqual([]);

  await sendMessage(service, session_id, { text: 'work again' });
  expect(await waitIdle(service, session_id, { signal: never })).toMatchObject({ status: 'success' });
  const events = await allEvents(session_id);
  expect(events.slice(0, closed.length)).toEqual(closed);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events[closed.length]?.type).toBe('session_reopened');
  await vi.waitFor(
    async () => expect(await listed('all')).toMatchObject([{ status: 'active', runs: 2 }]),
    5_000,
  );
  expect(await listed('archived')).toEqual([]);
  await reopen(service, session_id);
  expect(await facts(service, session_id)).toMatchObject({ status: 'active', title: 'To the archive' });
}, 60_000);

test('without any worker a message is accepted, listed, and shown with what is known', async () => {
  await using temporary = await temporaryHome();
  const { address } = await ensureUp(temporary.home, { env: rig.env, withWorker: false });
  const alone = await connect(temporary.home, { TEMPORAL_ADDRESS: address });
  try {
    const { session_id } = await createSession(alone, { ...session, title: 'Nobody there' });
    await sendMessage(alone, session_id, { text: 'and more' });
    const known = await facts(alone, session_id, { patience_ms: 1_000 });
    expect(known).toMatchObject({
      partial: true,
      session_id,
      title: 'Nobody there',
      status: 'active',
      user_id: 'tester',
      workspace: session.workspace,
    });
    await vi.waitFor(
      async () => expect(await listSessions(alone)).toMatchObject([{ session_id, runs: 0 }]),
      5_000,
    );
    await expect(readEvents(alone, session_id, 1, { patience_ms: 1_000 }).next()).rejects.toMatchObject({
      code: 'worker.none',
      exitCode: 4,
    });
  } finally {
    await alone.close();
  }
}, 60_000);
