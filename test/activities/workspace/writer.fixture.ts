/**
 * A worker of its own that runs one write tool and meets its fate just after it has entered the gate:
 * `kill` (SIGKILL), `stop` (SIGSTOP, then it goes on when it is continued), or `kill-after` its effect.
 * Any other fate is the test's to bring about.
 * argv: root, tool, JSON of arguments, JSON of what the session has seen, fate. Prints how `run` ended.
 */
import { SessionJobs } from '../../../src/activities/jobs/sessionJobs.ts';
import { Journal, OperationRecord } from '../../../src/activities/journal/operation.ts';
import { BlobStore } from '../../../src/activities/journal/blobs.ts';
import { applyPatch } from '../../../src/activities/tools/applyPatch.ts';
import { editFile } from '../../../src/activities/tools/editFile.ts';
import type { ToolContext } from '../../../src/activities/tools/tool.ts';
import { writeFile } from '../../../src/activities/tools/writeFile.ts';

const [root = '', name = '', args = '', seen = '', fate = ''] = process.argv.slice(2);

class FatefulRecord extends OperationRecord {
  override async enterGate(attempt: number, by: string): Promise<void> {
    await super.enterGate(attempt, by);
    if (fate === 'kill') process.kill(process.pid, 'SIGKILL');
    if (fate === 'stop') process.kill(process.pid, 'SIGSTOP');
  }
}

const versions = JSON.parse(seen) as Record<string, string>;
const context: ToolContext = {
  workspace: `${root}/workspace`,
  call_id: 'call_1',
  operation: new FatefulRecord('op.fate', `${root}/journal/session/op.fate`),
  attempt: 1,
  worker: `fixture/${process.pid}`,
  blobs: new BlobStore(`${root}/blobs`),
  signal: new AbortController().signal,
  env: process.env,
  seenVersion: (path) => versions[path],
  httpRules: () => Promise.resolve({ allow: [], file: '' }),
  jobs: new SessionJobs(new Journal(`${root}/journal`), 'session'),
  findOutput: async () => undefined,
};

const tool = [writeFile, editFile, applyPatch].find((candidate) => candidate.name === name);
try {
  const outcome = await tool?.run(tool.schema.parse(JSON.parse(args)), context);
  if (fate === 'kill-after') process.kill(process.pid, 'SIGKILL');
  process.stdout.write(JSON.stringify(outcome));
} catch (error) {
  process.stdout.write(error instanceof Error ? error.name : String(error));
}
