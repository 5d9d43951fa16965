import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadProject } from '../../src/activities/loadProject.ts';
import type { LoadedProject } from '../../src/domain/event.ts';
import { INSTRUCTIONS_MAX_BYTES } from '../../src/domain/limits.ts';
import { calls, sessionRig } from '../support/fakeActivities.ts';
import type { SessionHandle, SessionRig } from '../support/fakeActivities.ts';
import { all } from '../support/world.ts';

let rig: SessionRig;
let workspace: string;
beforeAll(async () => {
  rig = await sessionRig();
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'hf-')));
});
afterAll(async () => {
  await rig[Symbol.asyncDispose]();
  await rm(workspace, { recursive: true, force: true });
});

const LARGE = 'r'.repeat(INSTRUCTIONS_MAX_BYTES);

async function write(text: string): Promise<void> {
  await writeFile(join(workspace, 'AGENTS.md'), text);
}

/** What each load of these tests answered, wherever the session's log is by now. */
const loads: LoadedProject[] = [];

/** With the real activity, in the workspace of these tests. */
async function start(options: { history_events?: number; steps?: number } = {}): Promise<SessionHandle> {
  const { history_events, steps = 0 } = options;
  return rig.start(
    {
      model: (call) => (call < steps ? calls({ tool: 't', call_id: `call${call}` }) : { text: 'hello' }),
      loadProject: async (input) => {
        const loaded = await loadProject({ ...input, workspace: { host: 'h', path: workspace } });
        loads.push(loaded);
        return loaded;
      },
    },
    history_events === undefined ? {} : { history_events },
  );
}

async function run(session: SessionHandle, text: string): Promise<void> {
  const before = (await session.facts()).run_count;
  await session.send(text);
  await session.until((facts) => facts.run_count > before && facts.run_state === 'idle');
}

test('runs that find the same AGENTS.md record its text once: each further load costs a few hundred bytes', async () => {
  await write(LARGE);
  const session = await start();
  await session.untilIdle();
  const [first = 0, ...none] = await loadBytes(session);
  expect(none).toEqual([]);
  expect(first).toBeGreaterThan(INSTRUCTIONS_MAX_BYTES);
  const before = await historyText(session);
  await run(session, 'second');
  await run(session, 'third');
  const [, ...others] = await loadBytes(session);
  expect(others).toHaveLength(2);
  for (const bytes of others) expect(bytes).toBeLessThan(400);
  const after = await historyText(session);
  // Two whole runs, with all that Temporal writes about them.
  expect(after.length - before.length).toBeLessThan(INSTRUCTIONS_MAX_BYTES);
  expect(after.split(LARGE.slice(0, 1_000)).length).toBe(before.split(LARGE.slice(0, 1_000)).length);
  const loads = all(await session.events(), 'project_loaded');
  expect(loads.map(({ project, changes }) => [project.unchanged, changes])).toEqual([
    [false, undefined],
    [true, undefined],
    [true, undefined],
  ]);
});

test('an edit between two runs is recorded whole, and named', async () => {
  await write('one');
  const session = await start();
  await session.untilIdle();
  await write('two');
  await run(session, 'second');
  await run(session, 'third');
  const [, second, third] = all(await session.events(), 'project_loaded');
  expect(second).toMatchObject({
    project: { unchanged: false, instructions: [{ path: 'AGENTS.md', text: 'two' }] },
    changes: [{ path: 'AGENTS.md', change: 'changed' }],
  });
  expect(third?.project).toMatchObject({ unchanged: true });
});

test('a session that continued as new still knows the project: it is not recorded again', async () => {
  await write('kept');
  loads.length = 0;
  const session = await start({ history_events: 60, steps: 12 });
  await session.untilIdle();
  expect(session.archived().length).toBeGreaterThan(0);
  await run(session, 'second');
  expect(loads.map(({ unchanged }) => unchanged)).toEqual([false, true]);
});

test('after a rebind the project is read anew, and what it has otherwise is named', async () => {
  await write('here');
  const session = await start();
  await session.untilIdle();
  await session.signal('rebind', { workspace: { host: 'test-host', path: '/there' }, by: 'u' });
  // The rig reads one folder for all: what is written now is the other workspace's.
  await write('there');
  await run(session, 'second');
  expect(all(await session.events(), 'project_loaded').at(-1)).toMatchObject({
    project: { instructions: [{ text: 'there' }] },
    changes: [{ path: 'AGENTS.md', change: 'changed' }],
  });
});

/** Arguments and result of each loadProject, as they stand in Temporal's history. */
async function loadBytes(session: SessionHandle): Promise<number[]> {
  const history = await rig.client.workflow.getHandle(`holdfast/${session.session_id}`).fetchHistory();
  const events = history.events ?? [];
  return events
    .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'loadProject')
    .map(({ eventId, activityTaskScheduledEventAttributes: scheduled }) => {
      const ends = events.map((event) => event.activityTaskCompletedEventAttributes);
      const end = ends.find((completed) => String(completed?.scheduledEventId) === String(eventId));
      return sizeOf(scheduled?.input) + sizeOf(end?.result);
    });
}

interface Payloads {
  payloads?: { data?: Uint8Array | null }[] | null;
}

function sizeOf(message: Payloads | null | undefined): number {
  return (message?.payloads ?? []).reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
}

/** All payloads of a session's history. */
async function historyText(session: SessionHandle): Promise<string> {
  const history = await rig.client.workflow.getHandle(`holdfast/${session.session_id}`).fetchHistory();
  return JSON.stringify(history, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  );
}
