import { readFile, utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SessionJobs } from '../../../src/activities/jobs/sessionJobs.ts';
import { Journal } from '../../../src/activities/journal/operation.ts';
import { bash } from '../../../src/activities/tools/bash.ts';
import { jobOutput } from '../../../src/activities/tools/jobOutput.ts';
import { jobStatus } from '../../../src/activities/tools/jobStatus.ts';
import { jobStop } from '../../../src/activities/tools/jobStop.ts';
import type { ToolContext } from '../../../src/activities/tools/tool.ts';
import { identifyProcess } from '../../../src/host/process.ts';
import { Bench, killIfThere, runnerPid } from '../runner/support.ts';
import { CallProcess, killedAt } from './callProcess.ts';

let bench: Bench;

beforeEach(async () => {
  bench = await Bench.make();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await bench[Symbol.asyncDispose]();
});

/** Grandchildren in the group and outside of it; `up` is written when all are there. */
const SERVER = 'sleep 600 & setsid sleep 600 & echo up > up; echo listening; sleep 600; echo never';

interface StartedJob {
  context: ToolContext;
  job_id: string;
}

async function start(command: string): Promise<StartedJob> {
  const context = bench.context();
  const { status } = await bash.run({ command, background: true }, context);
  expect(status).toBe('success');
  return { context, job_id: context.jobs.idOf(context.operation.operation_id) };
}

async function said(tool: typeof jobStatus, args: { job_id: string; offset?: number; limit?: number }) {
  return tool.run(args, bench.context());
}

async function statusOf({ job_id }: StartedJob): Promise<string> {
  return (await said(jobStatus, { job_id })).output;
}

async function ended(job: StartedJob): Promise<void> {
  await expect.poll(() => statusOf(job), { interval: 10, timeout: 30_000 }).toMatch(/has ended/);
}

async function isUp(): Promise<void> {
  await expect.poll(() => bench.read('up').catch(() => ''), { interval: 5, timeout: 30_000 }).toBe('up\n');
  await expect.poll(() => bench.living().length, { interval: 5, timeout: 30_000 }).toBeGreaterThanOrEqual(4);
}

test('a job is started and the call returns at once, with its id and how to look at it', async () => {
  const context = bench.context();
  const outcome = await bash.run({ command: SERVER, background: true }, context);
  const job_id = context.operation.operation_id;
  expect(outcome.status).toBe('success');
  expect(outcome.output).toMatch(
    new RegExp(
      `^\\[job ${job_id} started at 20[^ ]+Z: process ${await runnerPid(context)}\\]\nIt runs by itself`,
    ),
  );
  expect(outcome.output).toContain(`job_status {"job_id":"${job_id}"}`);
});

test("a job's id is its operation's, without the session's own", () => {
  const jobs = new SessionJobs(new Journal(bench.root), 'k3v9x2m7q4ta');
  expect(jobs.idOf('k3v9x2m7q4ta.r1.s3.2')).toBe('r1.s3.2');
});

test('a job with a time-out is refused', () => {
  const checked = bash.schema.safeParse({ command: 'true', background: true, timeout_ms: 1 });
  expect(checked.error?.issues[0]?.message).toMatch(/leave out timeout_ms/);
  expect(bash.schema.safeParse({ command: 'true', background: false, timeout_ms: 1 }).success).toBe(true);
});

test('the status of a running job names its processes, its command and its output', async () => {
  const job = await start(SERVER);
  await isUp();
  const status = await statusOf(job);
  expect(status).toMatch(
    /is running: started at 20.*Z as process \d+, [\d.]+ s ago\. Its processes: .*sleep/,
  );
  expect(status).toContain(`Command: ${SERVER}`);
  expect(status).toMatch(/Its output so far \(10 bytes\):\nlistening\n$/);
});

test('the status of an ended job has its exit code and what it left running', async () => {
  const job = await start('sleep 600 & exit 3');
  await ended(job);
  expect(await statusOf(job)).toMatch(
    /has ended: started at .*, ended at .* with exit code 3 after [\d.]+ s\. It left processes that still run: \d+ \(sleep\)\.\n/,
  );
});

test("a job's output is read in pages, and says whether more may come", async () => {
  const hold = bench.fifo('hold');
  const job = await start('printf äöü; read -r _ < hold; printf xyz');
  const { job_id } = job;
  // Not by its status: that has the command's text, and with it these letters, before they are printed.
  const output = async (): Promise<string> => (await said(jobOutput, { job_id })).output;
  await expect.poll(output, { interval: 5, timeout: 30_000 }).toContain('of 6');
  expect((await said(jobOutput, { job_id, limit: 5 })).output).toBe(
    '[bytes 0 to 4 of 6. 2 bytes remain: go on with offset 4.]\näö',
  );
  expect((await said(jobOutput, { job_id, offset: 4 })).output).toBe(
    '[bytes 4 to 6 of 6. The job is running: what it prints next is at offset 6.]\nü',
  );
  expect((await said(jobOutput, { job_id, offset: 6 })).output).toMatch(/^\[bytes 6 to 6 of 6\. .*running/);
  expect(await said(jobOutput, { job_id, offset: 7 })).toMatchObject({
    status: 'failed',
    output: expect.stringMatching(/at most 6, .* found 7/),
  });
  await hold.release();
  await ended(job);
  expect((await said(jobOutput, { job_id, offset: 6 })).output).toMatch(
    /^\[bytes 6 to 9 of 9\. This is the end;.*\nxyz$/,
  );
});

test('a job is stopped with all that it started, and a repeated stop says that it had been', async () => {
  const job = await start(SERVER);
  await isUp();
  const first = await said(jobStop, job);
  expect(first).toMatchObject({
    status: 'success',
    output: expect.stringMatching(
      /^It was running and was stopped\. Job .* has ended: .*stopped at .*exit code 143 \(128 \+ 15: SIGTERM\).* Nothing of it runs now\.$/,
    ),
  });
  expect(bench.living()).toEqual([]);
  const again = await said(jobStop, job);
  expect(again).toMatchObject({
    status: 'success',
    output: expect.stringMatching(/has ended: .*stopped at .* nothing was stopped\.$/),
  });
  expect(await statusOf(job)).toMatch(/stopped at/);
});

test('a stop of a job that ended by itself leaves its end as it was', async () => {
  const job = await start('exit 7');
  await ended(job);
  const { output } = await said(jobStop, job);
  expect(output).toMatch(/has ended: .* with exit code 7 .* nothing was stopped\.$/);
  expect(output).not.toMatch(/stopped at/);
});

test('a stop ends what an ended job had left', async () => {
  const job = await start('sleep 600 & exit 0');
  await ended(job);
  const { output } = await said(jobStop, job);
  expect(output).toMatch(
    /^Its shell was gone already; what it had left was stopped: \d+ \(sleep\)\..*exit code 0.*Nothing of it runs now\.$/,
  );
  expect(bench.living()).toEqual([]);
});

test('an old job does not show up in a new session, and its id is of no use there', async () => {
  const job = await start('sleep 600');
  const jobs = new SessionJobs(new Journal(bench.path('.journal')), 'another');
  for (const tool of [jobStatus, jobOutput, jobStop]) {
    const outcome = await tool.run({ job_id: job.job_id }, { ...bench.context(), jobs });
    expect(outcome).toMatchObject({
      status: 'failed',
      output: expect.stringMatching(/has no job .* It has started no job so far/),
    });
    expect(outcome.output).not.toContain('sleep 600');
  }
  expect(await jobs.list()).toEqual([]);
  expect(bench.living(job.context.operation.operation_id)).not.toEqual([]);
});

test.each([
  ['another folder', '../another/x'],
  ['this folder', '.'],
  ['the folder above', '..'],
  ['nothing', ''],
  ['a path', 'a/b'],
  ['too long for a name', 'x'.repeat(5000)],
  ['NUL', 'no\0'],
])('an id that no job has (%s) is answered with the jobs that there are', async (_, job_id) => {
  const job = await start('exit 0');
  await bash.run({ command: 'echo in the foreground' }, bench.context());
  const { status, output } = await said(jobStatus, { job_id });
  expect(status).toBe('failed');
  expect(output).toMatch(new RegExp(`Its jobs, the newest first:\n- ${job.job_id}: exit 0$`));
});

test('a damaged record of a job is named, and the other jobs are found', async () => {
  const [torn, whole] = [await start('exit 0'), await start('exit 0')];
  await writeFile(torn.context.operation.path('intent.json'), '{"oper');
  expect(await said(jobStatus, torn)).toMatchObject({
    status: 'failed',
    output: expect.stringMatching(/intent\.json/),
  });
  expect(await said(jobStatus, { job_id: 'no' })).toMatchObject({
    output: expect.stringContaining(whole.job_id),
  });
});

test('another process that has the pid now is neither taken for the job nor stopped', async () => {
  const job = await start('true');
  await ended(job);
  using stranger = await CallProcess.start(bench, {
    operation_id: bench.newOperation(),
    tool: 'bash',
    args: { command: 'true' },
    fault: { at: 'before_intent', signal: 'SIGSTOP' },
  });
  const pid = stranger.child.pid ?? 0;
  const gate = job.context.operation.gatePath(1);
  const text = await readFile(gate, 'utf8');
  await writeFile(gate, text.replace(/pid \d+/, `pid ${pid}`));
  await writeFile(job.context.operation.path('ended/1'), '');

  expect(await statusOf(job)).toMatch(/is lost: .*left no record of the end/);
  expect(await said(jobStop, job)).toMatchObject({ output: expect.stringMatching(/nothing was stopped/) });
  expect(await identifyProcess(pid)).toBeDefined();
});

test('after a reboot a job is lost, and a process of the same pid and start is left alone', async () => {
  const job = await start('sleep 600');
  const pid = await runnerPid(job.context);
  vi.stubEnv('HOLDFAST_BOOT_ID', 'another boot');
  expect(await statusOf(job)).toMatch(
    /was lost when the machine was restarted: started at .* does not run any more/,
  );
  expect(await said(jobStop, job)).toMatchObject({ output: expect.stringMatching(/nothing was stopped/) });
  expect(bench.living()).toContain(pid);
});

test('what a killed runner leaves is named, and job_stop ends it', async () => {
  const job = await start(SERVER);
  await isUp();
  const runner = await runnerPid(job.context);
  killIfThere(runner);
  await expect
    .poll(() => statusOf(job), { interval: 5, timeout: 30_000 })
    .toMatch(/is lost: .*It left processes that still run: .*sleep/);
  expect(await said(jobStop, job)).toMatchObject({
    status: 'success',
    output: expect.stringMatching(/what it had left was stopped/),
  });
  expect(bench.living()).toEqual([]);
});

test("all of a job's processes survive the death of the worker as one job", async () => {
  const operation_id = bench.newOperation();
  await killedAt(bench, 'before_report', {
    operation_id,
    tool: 'bash',
    args: { command: SERVER, background: true },
  });
  await isUp();
  const { output } = await said(jobStatus, { job_id: operation_id });
  expect(output).toMatch(/is running: .*Its processes: .*\(sleep\), .*\(sleep\), .*\(sleep\)/);
});

test('an interrupt of a command leaves none of its grandchildren, and leaves the jobs alone', async () => {
  const job = await start('sleep 600');
  const interrupt = new AbortController();
  const context = bench.context({ signal: interrupt.signal });
  const running = bash.run({ command: SERVER }, context);
  await isUp();
  interrupt.abort();
  expect(await running).toMatchObject({ status: 'cancelled' });
  expect(bench.living(context.operation.operation_id)).toEqual([]);
  expect(await statusOf(job)).toMatch(/is running/);
});

test('an interrupt that comes before the start leaves nothing behind', async () => {
  const context = bench.context({ signal: AbortSignal.abort() });
  const outcome = await bash.run({ command: 'touch ran', background: true }, context);
  expect(outcome).toEqual({ status: 'cancelled', output: expect.stringMatching(/not started/) });
  expect(await context.jobs.list()).toEqual([]);
});

const started = { command: 'echo ran >> f; sleep 600', background: true };

test.each([
  ['before_intent', 'not_run'],
  ['after_intent', 'not_run'],
] as const)('a start whose worker was killed %s was %s, and can be run again', async (at, status) => {
  const operation_id = bench.newOperation();
  await killedAt(bench, at, { operation_id, tool: 'bash', args: started });
  const context = bench.context({}, operation_id);
  expect(await bash.reconcile(started, context)).toMatchObject({
    status,
    evidence: expect.stringMatching(/was not run: no process had begun it, and its gate is closed/),
  });
  expect(await bash.run(started, { ...context, attempt: 2 })).toMatchObject({ status: 'success' });
  await expect.poll(() => bench.read('f').catch(() => ''), { interval: 5, timeout: 30_000 }).toBe('ran\n');
  expect(await statusOf({ context, job_id: operation_id })).toMatch(/is running/);
});

test.each(['after_spawn', 'before_report'] as const)(
  'a start whose worker was killed %s is completed, with the words of an undisturbed call',
  async (at) => {
    const operation_id = bench.newOperation();
    await killedAt(bench, at, { operation_id, tool: 'bash', args: started });
    await expect.poll(() => bench.read('f').catch(() => ''), { interval: 5, timeout: 30_000 }).toBe('ran\n');
    const context = bench.context({}, operation_id);
    const found = await bash.reconcile(started, context);
    expect(found).toMatchObject({
      status: 'completed',
      evidence: expect.stringMatching(
        /The job was started at .* by runner process \d+\. Starting it is all that this call does/,
      ),
      outcome: {
        status: 'success',
        output: expect.stringMatching(
          new RegExp(`^\\[job ${operation_id} started at .*Z: process \\d+\\]\nIt runs by itself`),
        ),
      },
    });
  },
);

test('a start that came through stays completed when the machine was restarted since', async () => {
  const { context } = await start('sleep 600');
  const before = await bash.reconcile(started, context);
  vi.stubEnv('HOLDFAST_BOOT_ID', 'another boot');
  expect(await bash.reconcile(started, context)).toEqual(before);
});

test('an intent without a start is unknown after a reboot', async () => {
  const operation_id = bench.newOperation();
  await killedAt(bench, 'after_intent', { operation_id, tool: 'bash', args: started });
  vi.stubEnv('HOLDFAST_BOOT_ID', 'another boot');
  expect(await bash.reconcile(started, bench.context({}, operation_id))).toMatchObject({
    status: 'unknown',
    evidence: expect.stringMatching(
      /about to be started at .*machine has been restarted since.*\nWhether the command ran, wholly or in part, is not known/,
    ),
  });
});

test('a start record that is damaged is unknown', async () => {
  const { context } = await start('sleep 600');
  await writeFile(context.operation.gatePath(1), 'entered');
  await utimes(context.operation.gatePath(1), 0, 0);
  expect(await bash.reconcile(started, context)).toMatchObject({
    status: 'unknown',
    evidence: expect.stringMatching(/not complete.*gate-1/),
  });
});

test('a start whose worker was frozen comes too late once it was settled', async () => {
  const operation_id = bench.newOperation();
  using call = await CallProcess.start(bench, {
    operation_id,
    tool: 'bash',
    args: started,
    fault: { at: 'after_intent', signal: 'SIGSTOP' },
  });
  const context = bench.context({}, operation_id);
  await call.stopped();
  expect(await bash.reconcile(started, context)).toMatchObject({ status: 'not_run' });
  call.kill('SIGCONT');
  expect(await call.result()).toEqual({ error: 'Fenced' });
  await expect(bench.read('f')).rejects.toMatchObject({ code: 'ENOENT' });
});
