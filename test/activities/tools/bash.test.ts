import { symlink, mkdir } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OUTPUT_MAX_BYTES } from '../../../src/domain/limits.ts';
import { bash, COMMAND_MAX_BYTES } from '../../../src/activities/tools/bash.ts';
import { commandEnvironment } from '../../../src/activities/tools/commandEnvironment.ts';
import { ForkedWorker } from '../runner/fork.ts';
import { Bench } from '../runner/support.ts';

let bench: Bench;

beforeEach(async () => {
  bench = await Bench.make();
});

afterEach(async () => {
  await bench[Symbol.asyncDispose]();
});

/** The output alone, without the lines in brackets above it. */
async function outputOf(command: string): Promise<string> {
  const { output } = await bash.run({ command }, bench.context());
  return output.slice(output.indexOf('\n\n') + 2);
}

test.each([
  ['true', 'success', 0, 'exit code 0'],
  ['exit 3', 'failed', 3, 'exit code 3'],
  ['no-such-command', 'failed', 127, 'exit code 127'],
  ['kill -TERM $$', 'failed', 143, 'exit code 143 (128 + 15: SIGTERM)'],
  ['kill -SEGV $$', 'failed', 139, 'exit code 139 (128 + 11: SIGSEGV)'],
  ['kill -KILL $$', 'failed', 137, 'exit code 137 (128 + 9: SIGKILL)'],
])('%s ends as %s with code %i', async (command, status, exit_code, words) => {
  const outcome = await bash.run({ command }, bench.context());
  expect(outcome).toMatchObject({ status, exit_code });
  expect(outcome.output).toContain(`[${words}, ran `);
});

test('stdout and stderr come in the order in which they were written', async () => {
  expect(await outputOf('echo a; echo b >&2; echo c; sh -c "echo d >&2"; echo e')).toBe('a\nb\nc\nd\ne\n');
});

test('a command without output says so', async () => {
  expect(await outputOf('true')).toBe('(no output)');
});

test('the command is given to bash as it stands, whatever quotes and blanks it has', async () => {
  const command = `printf '[%s]' "$0" "$#" 'it'\\''s' "a  b" '$HOME' $'\\t' "\\\\" 'ü€😀'\n# a comment\ncat <<'X'\n"'\`$(no)\nX`;
  expect(await outputOf(command)).toBe(`[bash][0][it's][a  b][$HOME][\t][\\][ü€😀]"'\`$(no)\n`);
});

test('a command may begin with a dash', async () => {
  expect(await outputOf('-x')).toMatch(/-x: command not found/);
});

test('a command of the largest size is run', async () => {
  const command = 'echo ok #';
  expect(await outputOf(command.padEnd(COMMAND_MAX_BYTES, 'x'))).toBe('ok\n');
});

test('stdin is empty', async () => {
  expect(await outputOf('cat; echo end')).toBe('end\n');
});

test('nothing of the runner is in the command: no variables, traps, options, ignored signals or files', async () => {
  const command = [
    'env | grep -E "^hf_|HOLDFAST_RUNNER"',
    'trap',
    'set -o | grep -E "noclobber.*on"',
    'echo a > twice; echo b > twice; cat twice',
    'grep SigIgn /proc/self/status | tr -d "\\t"',
    'for fd in /proc/$$/fd/*; do case $(readlink $fd) in *holdfast-runner-*|/dev/null) echo ${fd##*/};; esac; done',
  ].join('\n');
  expect(await outputOf(command)).toBe('b\nSigIgn:0000000000000000\n0\n1\n2\n');
});

test('a pattern that kills by argument list does not find the runner', async () => {
  const command = `pkill -KILL -f ${bench.newOperation()}; true`;
  const outcome = await bash.run({ command }, bench.context());
  expect(outcome).toMatchObject({ status: 'failed', exit_code: 137 });
});

test('a command in the background does not hang the call and is named', async () => {
  const context = bench.context();
  const outcome = await bash.run({ command: 'sleep 600 & echo $!; sleep 0.05' }, context);
  const pid = Number(/\n\n(\d+)\n$/.exec(outcome.output)?.[1]);
  expect(outcome).toMatchObject({ status: 'success', exit_code: 0 });
  expect(outcome.output).toContain(`[still running in the background, not stopped: ${pid} (sleep)]`);
  expect(bench.living(context.operation.operation_id)).toEqual([pid]);
});

test('NUL and bytes that are no UTF-8 reach the model as visible signs', async () => {
  expect(await outputOf(String.raw`printf 'a\000b\377c\303'`)).toBe('a␀b\uFFFDc\uFFFD');
});

test('50 MB of output are bounded for the model, kept whole, and never in memory', async () => {
  const context = bench.context();
  const args = { command: 'echo head; head -c 50000000 /dev/zero | tr "\\0" x; echo; echo tail' };
  using worker = new ForkedWorker(bench, context.operation.operation_id, args, 'warm');
  const { outcome, grown_kib } = await worker.message();
  expect(outcome?.blob?.bytes).toBe(50_000_011);
  expect(Buffer.byteLength(outcome?.output ?? '')).toBeLessThanOrEqual(OUTPUT_MAX_BYTES);
  expect(outcome?.output).toMatch(/^\[exit code 0, ran [\d.]+ s\]\n\nhead\nx+\n[^]*x\ntail\n$/);
  expect(grown_kib).toBeLessThan(40 * 1024);
});

test("the agent's own secrets are not in a command's environment, the user's variables are", async () => {
  const env = commandEnvironment({
    ...process.env,
    OPENAI_API_KEY: 'sk-secret',
    TEMPORAL_API_KEY: 'secret',
    TEMPORAL_TLS_CLIENT_KEY_DATA: 'secret',
    TEMPORAL_GRPC_META_AUTHORIZATION: 'secret',
    HOLDFAST_HOME: '/secret',
    HOLDFAST_BOOT_ID: 'secret',
    AWS_PROFILE: 'mine',
  });
  const context = bench.context({ env });
  const { output } = await bash.run({ command: 'env; cat /proc/$PPID/environ | tr "\\0" "\\n"' }, context);
  expect(output).not.toMatch(/secret/);
  expect(output).toMatch(/^AWS_PROFILE=mine$/m);
  expect(output).toMatch(/^GIT_TERMINAL_PROMPT=0$/m);
  expect(output).toContain(`\nHOLDFAST_OPERATION_ID=${context.operation.operation_id}\n`);
});

test('where there is no bash, sh runs the command', async () => {
  await mkdir(bench.path('bin'));
  await symlink('/bin/sh', bench.path('bin/sh'));
  const env = { PATH: bench.path('bin') };
  const { output } = await bash.run({ command: 'echo $0' }, bench.context({ env }));
  expect(output).toMatch(/\n\nsh\n$/);
});

test('20 commands at once each get their own result', async () => {
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  const outcomes = await Promise.all(
    numbers.map((n) => bash.run({ command: `echo out ${n}; exit ${n}` }, bench.context())),
  );
  expect(outcomes.map(({ exit_code }) => exit_code)).toEqual(numbers);
  for (const n of numbers) expect(outcomes[n]?.output).toMatch(new RegExp(`\\n\\nout ${n}\\n$`));
});

test('a workspace that is gone is an error of the system, and nothing is run', async () => {
  const context = bench.context({ workspace: bench.path('gone') });
  await expect(bash.run({ command: 'true' }, context)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await bash.reconcile({}, context)).toMatchObject({ status: 'not_run' });
});
