import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { say } from '../../src/demo/scriptedTurns.ts';
import { all, World } from '../support/world.ts';

test('an edit of AGENTS.md between two runs reaches the next request: the new text, and a note where it was found', {
  timeout: 120_000,
}, async () => {
  await using world = await World.create(({ lastUserText }) => say(`answer to ${lastUserText}`));
  const file = join(world.workspace, 'AGENTS.md');
  await writeFile(file, 'Use tabs.');
  const id = await world.start('first');
  await world.wait(id);
  expect((await world.cli(['run', 'second', '--session', id])).stderr).not.toContain('project');

  await writeFile(file, 'Use blanks.');
  const skill = join(world.workspace, '.agents', 'skills', 'release');
  await mkdir(skill, { recursive: true });
  await writeFile(join(skill, 'SKILL.md'), '---\nname: release\ndescription: Release it.\n---\n');
  const { messages } = await world.json<{ messages: { role: string; content: string }[] }>('context', id);
  const third = await world.cli(['run', 'third', '--session', id]);
  expect(third.stderr).toContain('- project: .agents/skills/release/SKILL.md added, AGENTS.md changed');

  const [one, two, three] = world.model.requests;
  if (!one || !two || !three) throw new Error('Expected three requests.');
  expect(one.system).toContain('Use tabs.');
  expect(two.system).toContain('Use tabs.');
  expect(two.messages.map(({ text }) => text).join()).not.toContain('project_changed');
  expect(three.system).toContain('Use blanks.');
  expect(three.system).not.toContain('Use tabs.');
  expect(three.system).toContain('- release: Release it.');
  expect(three.messages.slice(-2).map(({ role, text }) => `${role}: ${text}`)).toEqual([
    'user: third',
    "user: <project_changed>Since the last run the project's instructions or skills changed: .agents/skills/release/SKILL.md (added), AGENTS.md (changed). The system message has them as they are now.</project_changed>",
  ]);
  // What `context` had said before the run: the project of that moment, and the same note.
  const told = messages.map(({ content }) => content);
  expect([told[0], told.at(-1)]).toEqual([three.system, three.messages.at(-1)?.text]);

  const loads = all(await world.events(id), 'project_loaded');
  expect(loads.map(({ project }) => project.unchanged)).toEqual([false, true, false]);
  expect(JSON.stringify(loads[1]).length).toBeLessThan(400);
});
