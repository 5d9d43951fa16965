/** The project that the demo works on: a login that refuses its own users, and the test that says so. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The test makes it when it begins, so that the worker can be killed while it runs. */
export const RUNNING_MARK = '.test-is-running';
/** One line for each time that the test was run. */
export const TEST_LOG = '.test-log';

const FILES: Record<string, string> = {
  'package.json': `{
  "name": "shop",
  "type": "module",
  "scripts": { "test": "node --test" }
}
`,
  'AGENTS.md': `# shop

Run the tests with \`npm test\` after each change. They take a few seconds: the user store is slow.
`,
  'src/login.js': `import { users } from './users.js';

/** The user with this email and password, or null. Emails are the same in any case. */
export function login(email, password) {
  const user = users.find((candidate) => candidate.email === email);
  if (user === undefined || user.password !== password) return null;
  return user;
}
`,
  'src/users.js': `export const users = [
  { name: 'Ada', email: 'ada@example.com', password: 'engine' },
  { name: 'Grace', email: 'grace@example.com', password: 'compiler' },
];
`,
  'test/login.test.js': `import assert from 'node:assert/strict';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { login } from '../src/login.js';

before(async () => {
  appendFileSync('${TEST_LOG}', 'run\\n');
  writeFileSync('${RUNNING_MARK}', '');
  await delay(3000); // the user store is slow
});
after(() => rmSync('${RUNNING_MARK}'));

test('a user can log in', () => {
  assert.equal(login('ada@example.com', 'engine')?.name, 'Ada');
});

test('the case of an email does not matter', () => {
  assert.equal(login('Ada@Example.com', 'engine')?.name, 'Ada');
});

test('a wrong password is refused', () => {
  assert.equal(login('ada@example.com', 'loom'), null);
});
`,
};

/** Writes the project into `folder`. */
export async function writeSampleProject(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(FILES)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
