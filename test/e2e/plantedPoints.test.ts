/**
 * A worker that is killed at each planted point: the exact events of the call, and the exact text that the
 * model gets. Times, pids, durations and hashes are replaced by a word.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { scriptByStep, type ScriptedStep } from '../../src/demo/scriptedSteps.ts';
import { callTool, say } from '../../src/demo/scriptedTurns.ts';
import type { FaultPoint } from '../../src/host/faults.ts';
import { startSession } from './support/rollingSession.ts';
import { all, checkLog, World } from '../support/world.ts';
import { plant, readIfThere, storyOf, withoutNumbers } from './support/planted.ts';

const ONCE = 'echo start >> log; sleep 0.2; echo done >> log; echo said';

test.for(['before_intent', 'after_intent'] as const)(
  'killed at %s of a command: it was not run, so it is run now, once',
  async (point) => {
    const { world, id } = await struckAt(point, [callTool('bash', { command: ONCE }), say('seen')]);
    await using _ = world;
    const events = await world.events(id);
    expect(storyOf(events)).toEqual([
      'tool_call',
      'tool_recovery uncertain: The worker was lost while it did this.',
      'tool_recovery not_run: The command was not run: no process had begun it, and its gate is closed now, so that none can begin it any more.',
      'tool_result success: [exit code 0, ran SECONDS]\n\nsaid\n',
    ]);
    expect(textsOf(world)).toEqual(['[exit code 0, ran SECONDS]\n\nsaid\n']);
    expect(await readIfThere(join(world.workspace, 'log'))).toBe('start\ndone\n');
  },
);

test('killed at after_spawn of a command: the command is attached and its real result arrives', async () => {
  const { world, id } = await struckAt('after_spawn', [
    callTool('bash', { command: 'echo start >> log; sleep 5; echo done >> log; echo said; exit 3' }),
    say('seen'),
  ]);
  await using _ = world;
  const events = await world.events(id);
  expect(storyOf(events)).toEqual([
    'tool_call',
    'tool_recovery uncertain: The worker was lost while it did this.',
    'tool_recovery running: The command is still running: started at TIME, SECONDS ago, by runner process PID. Output so far: 0 bytes.',
    'tool_result failed recovered: [exit code 3, ran SECONDS]\n\nsaid\n',
  ]);
  expect(textsOf(world)).toEqual(['[exit code 3, ran SECONDS]\n\nsaid\n']);
  expect(await readIfThere(join(world.workspace, 'log'))).toBe('start\ndone\n');
});

test('killed at before_report of a command: its recorded result arrives, it is not run again', async () => {
  const { world, id } = await struckAt('before_report', [callTool('bash', { command: ONCE }), say('seen')]);
  await using _ = world;
  expect(storyOf(await world.events(id))).toEqual([
    'tool_call',
    'tool_recovery uncertain: The worker was lost while it did this.',
    'tool_recovery completed: The command was started at TIME by runner process PID and ended at TIME with exit code 0. This is its real result.',
    'tool_result success recovered: [exit code 0, ran SECONDS]\n\nsaid\n',
  ]);
  expect(textsOf(world)).toEqual(['[exit code 0, ran SECONDS]\n\nsaid\n']);
  expect(await readIfThere(join(world.workspace, 'log'))).toBe('start\ndone\n');
});

test('killed at after_gate of write_file: it has not happened and can not any more, so it is done now', async () => {
  const { world, id } = await struckAt('after_gate', [
    callTool('write_file', { path: 'a.txt', content: 'new\n' }),
    say('seen'),
  ]);
  await using _ = world;
  expect(storyOf(await world.events(id))).toEqual([
    'tool_call',
    'tool_recovery uncertain: The worker was lost while it did this.',
    "tool_recovery not_run: Its staged content was still in place and has been removed, so it never happened and can't any more. a.txt: sha256 now no file, as before the call.",
    'tool_result success: Created a.txt: 1 line, 4 bytes. Version HASH.',
  ]);
  expect(textsOf(world)).toEqual(['Created a.txt: 1 line, 4 bytes. Version HASH.']);
  expect(await readIfThere(join(world.workspace, 'a.txt'))).toBe('new\n');
});

test('killed at before_report of edit_file: the hash says that it was done, so it is not done again', async () => {
  const { world, id } = await struckAt(
    'before_report',
    [
      callTool('read_file', { path: 'a.txt' }),
      callTool('edit_file', { path: 'a.txt', old_text: '# end', new_text: 'once\n# end' }),
      say('seen'),
    ],
    async (world) => writeFile(join(world.workspace, 'a.txt'), '# end\n'),
  );
  await using _ = world;
  expect(storyOf(await world.events(id)).slice(2)).toEqual([
    'tool_call',
    'tool_recovery uncertain: The worker was lost while it did this.',
    'tool_recovery completed: Every file is as this call was to leave it. a.txt: sha256 now HASH, as after the call.',
    'tool_result success recovered: Edited a.txt at line 1: 0 bytes replaced by 5. Version HASH.',
  ]);
  expect(textsOf(world).at(-1)).toBe('Edited a.txt at line 1: 0 bytes replaced by 5. Version HASH.');
  expect(await readIfThere(join(world.workspace, 'a.txt'))).toBe('once\n# end\n');
});

test('killed at before_report of a patch of two files: both are done, and neither is done again', async () => {
  const patch = '*** Begin Patch\n*** Add File: a.txt\n+A\n*** Add File: b.txt\n+B\n*** End Patch';
  const { world, id } = await struckAt('before_report', [callTool('apply_patch', { patch }), say('seen')]);
  await using _ = world;
  const story = storyOf(await world.events(id));
  expect(story.slice(0, 3)).toEqual([
    'tool_call',
    'tool_recovery uncertain: The worker was lost while it did this.',
    'tool_recovery completed: Every file is as this call was to leave it. a.txt: sha256 now HASH, as after the call.\nb.txt: sha256 now HASH, as after the call.',
  ]);
  expect(story[3]).toBe(`tool_result success recovered: ${textsOf(world)[0]}`);
  expect(await readIfThere(join(world.workspace, 'a.txt'))).toBe('A\n');
  expect(await readIfThere(join(world.workspace, 'b.txt'))).toBe('B\n');
});

test("killed at after_receipt: the reply on the disk is used, and the provider's log shows one request", async () => {
  const { world, id } = await struckAt('after_receipt', [say('paid once')]);
  await using _ = world;
  expect(world.model.requests.map((request) => request.idempotencyKey)).toEqual([`${id}.r1.s1.0`]);
  expect(world.model.requests[0]?.outcome).toBe('answered');
  const replies = all(await world.events(id), 'assistant_message');
  expect(replies.map(({ text, operation_id }) => ({ text, operation_id }))).toEqual([
    { text: 'paid once', operation_id: `${id}.r1.s1.0` },
  ]);
});

test('killed at after_archive, in the middle of continue-as-new: nothing is lost and nothing doubled', async () => {
  const steps = Array.from({ length: 8 }, (_, index) =>
    callTool('bash', { command: `echo ${index} >> log; echo said ${index}` }),
  );
  await using world = await World.create(scriptByStep([...steps, say('seen')]));
  await plant(world, 'after_archive');
  await world.up();
  const service = await connect(world.home, world.env);
  const session_id = await startSession(world, { history_events: 40 });
  expect((await world.wait(session_id)).code).toBe(0);
  expect(await readIfThere(world.beside('faults/after_archive'))).toBeUndefined();
  const events = await world.events(session_id);
  checkLog(events);
  expect((await Array.fromAsync(service.archive.from(session_id, 1))).length).toBeGreaterThan(1);
  await service.close();
  expect(await readIfThere(join(world.workspace, 'log'))).toBe('0\n1\n2\n3\n4\n5\n6\n7\n');
  expect(all(events, 'tool_result').map(({ status }) => status)).toEqual(steps.map(() => 'success'));
  expect(textsOf(world)).toEqual(steps.map((_, index) => `[exit code 0, ran SECONDS]\n\nsaid ${index}\n`));
  expect(world.model.requests).toHaveLength(9);
});

/** A session whose worker is killed at `point` of the last step that calls a tool, to its end. */
async function struckAt(
  point: FaultPoint,
  steps: ScriptedStep[],
  prepare: (world: World) => Promise<void> = () => Promise.resolve(),
): Promise<{ world: World; id: string }> {
  const step = point === 'after_receipt' ? 0 : steps.length - 2;
  const world: World = await World.create(async (request, index) => {
    // Planted when the call is asked for: no step before it is struck, and no model call's own intent.
    if (request.step === step) await plant(world, point);
    return scriptByStep(steps)(request, index);
  });
  world.env['HOLDFAST_FAULTS'] = world.beside('faults');
  await prepare(world);
  await world.up();
  const id = await world.start('go');
  expect((await world.wait(id)).code).toBe(0);
  expect(await readIfThere(join(world.beside('faults'), point))).toBeUndefined();
  checkLog(await world.events(id));
  return { world, id };
}

/** The results that the model was sent, as its endpoint saw them. */
function textsOf(world: World): string[] {
  return (world.model.requests.at(-1)?.resultsOfTurn ?? []).map(withoutNumbers);
}
