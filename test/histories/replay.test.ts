import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { workflowBundle } from '../../src/worker/bundle.ts';

const FOLDER = dirname(fileURLToPath(import.meta.url));
const FILES = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'));

Runtime.install({ logger: new DefaultLogger('ERROR') });

test('there are recorded histories', () => {
  expect(FILES.length).toBeGreaterThan(0);
});

test.for(FILES.map((name) => relative('.', name)))('the session recorded in %s goes on under this workflow', async (name) => {
  const history: unknown = JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
  await Worker.runReplayHistory(
    {
      workflowBundle: { codePath: await workflowBundle() },
      sinks: { bus: { publish: { fn: () => {} } } },
    },
    history,
  );
});
