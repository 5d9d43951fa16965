/**
 * `npm run bench`: figures of this build on this machine, as a table and as one line of JSON. It measures
 * the built package; nothing here passes or fails.
 */
import { cpus, totalmem } from 'node:os';
import { measureCommand, measureMemory, measureWorkerBoot } from './processes.ts';
import { measureOpening } from './opening.ts';
import { measureInterrupt, measureRecovery } from './recovery.ts';
import { setStage } from './stage.ts';
import { formatTable } from './statistics.ts';
import type { Row } from './statistics.ts';
import { measureQuery, measureSteps, measureThroughput } from './steps.ts';

const rows: Row[] = [];
const add = (...more: Row[]): void => {
  rows.push(...more);
  process.stderr.write(`${formatTable(more)}\n`);
};

add(...(await measureWorkerBoot()));
{
  await using stage = await setStage();
  add(...(await measureSteps(stage)));
  add(...(await measureQuery(stage)));
  for (const [sessions, steps] of [
    [1, 60],
    [10, 20],
    [50, 10],
    [200, 3],
  ] as const) {
    add(await measureThroughput(stage, sessions, steps));
  }
  add(...(await measureCommand(stage, 'sessions')));
  add(...(await measureCommand(stage, '--version')));
  add(...(await measureMemory(stage)));
  add(...(await measureRecovery(stage)));
  add(...(await measureInterrupt(stage)));
  add(...(await measureOpening(stage)));
}

const machine = {
  cpus: cpus().length,
  cpu: cpus()[0]?.model,
  memory_bytes: totalmem(),
  node: process.version,
};
process.stdout.write(`${formatTable(rows)}\n${JSON.stringify({ machine, rows })}\n`);
