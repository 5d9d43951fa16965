import { expect, test } from 'vitest';
import type { ListedSession } from '../../src/client/list.ts';
import type { SessionEvent } from '../../src/domain/event.ts';
import { NO_USAGE } from '../../src/domain/model.ts';
import { eventLine, type KnownCall } from '../../src/ui/eventLine.ts';
import { eventText } from '../../src/ui/eventText.ts';
import { factsLines, type ShownFacts } from '../../src/ui/factsLines.ts';
import { sessionLines } from '../../src/ui/sessionLines.ts';
import { stylesFor } from '../../src/ui/style.ts';
import { widthOf } from '../../src/ui/text.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const plain = stylesFor(false);
const ESCAPE = '\u001B';

const session: ListedSession = {
  session_id: 'k3v9x2m7q4ta',
  title: 'Repair the tests of the parser, and then everything else that is broken in it',
  status: 'active',
  run_state: 'waiting_approval',
  user_id: 'u',
  workspace: '/home/somebody/projects/with/a/very/long/path/to/the/parser',
  host: 'h',
  runs: 3,
  uncertain: 0,
  created_at: '2026-03-01T10:00:00.000Z',
  updated_at: '2026-03-01T11:55:00.000Z',
};

test.each([20, 40, 69, 70, 80, 200])('a list of sessions fits %i columns', (columns) => {
  const lines = sessionLines([session, { ...session, title: '日本語'.repeat(30) }], columns, plain, NOW);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
  expect(lines.join('\n')).toContain('k3v9x2m7q4ta');
});

test('a list of sessions says what waits for a person', () => {
  expect(sessionLines([session], 100, plain, NOW)).toEqual([
    'k3v9x2m7q4ta needs you    5m ago     Repair the tests of the parser, and … …/long/path/to/the/parser',
  ]);
  expect(sessionLines([session], 40, plain, NOW)).toEqual([
    'k3v9x2m7q4ta needs you 5m ago',
    '  Repair the tests of the parser, and t…',
  ]);
});

test('without colours nothing is escaped, with them everything is the same but for that', () => {
  const colored = sessionLines([session], 100, stylesFor(true), NOW).join('\n');
  const without = sessionLines([session], 100, plain, NOW).join('\n');
  expect(without).not.toContain(ESCAPE);
  expect(colored).toContain(ESCAPE);
  expect(colored.replaceAll(new RegExp(`${ESCAPE}\\[\\d+m`, 'g'), '')).toBe(without);
});

const facts: ShownFacts = {
  held_up: [],
  session_id: session.session_id,
  user_id: 'u',
  title: session.title,
  status: 'active',
  run_state: 'waiting_approval',
  workspace: { host: 'h', path: session.workspace },
  settings: { model: 'm', api: 'chat', base_url: null, approval: 'ask', on_interrupt: 'continue' },
  created_at: session.created_at,
  updated_at: session.updated_at,
  runs: [
    {
      run_id: 'r1',
      status: 'failed',
      started_at: '2026-03-01T11:00:00.000Z',
      finished_at: '2026-03-01T11:01:05.000Z',
      error: { code: 'model.auth', message: 'The key was refused.', remedy: 'Give another.' },
      usage: NO_USAGE,
    },
  ],
  run_count: 1,
  queued: 2,
  uncertain: [
    {
      call_id: 'c1',
      operation_id: 'o',
      tool: 'bash',
      target: 'make install',
      status: 'unknown',
      evidence: 'It had begun.',
    },
  ],
  pending_approvals: [{ call_id: 'c2', operation_id: 'o2', tool: 'bash', target: 'rm -rf build' }],
  current_calls: [],
  goal: null,
  plan: null,
  usage: { ...NO_USAGE, input_tokens: 12_345 },
  context: { tokens: 0, window: 128_000, summary_through_seq: null, compactions: 0, compacting: false },
  last_seq: 9,
};

test('what is known of a session fits 40 columns and names what waits and what is uncertain', () => {
  const lines = factsLines(facts, 40, plain, NOW);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(40);
  const wide = factsLines(facts, 200, plain, NOW).join('\n');
  expect(wide).toContain('tokens     12,345 in, 0 out');
  expect(wide).toContain('queued     2 messages');
  expect(wide).toContain('failed, 1h ago, 1m 05s: The key was refused.');
  expect(wide).toContain('holdfast approve k3v9x2m7q4ta c2');
  expect(wide).toContain('outcome unknown: bash make install\n  It had begun.');
});

test('what holds a session up is shown with the reason of its last failure', () => {
  const held_up = [{ activity: 'archiveSegment', attempt: 7, failure: 'ENOSPC: no space left on device' }];
  expect(factsLines({ ...facts, held_up }, 80, plain, NOW).join('\n')).toContain(
    'archiveSegment failed and is tried again, try 7 is next:\n  ENOSPC: no space left on device\n',
  );
});

test('facts that nobody could be asked for say so', () => {
  expect(factsLines({ ...facts, partial: true }, 80, plain, NOW).join('\n')).toContain('No worker answers');
});

const at = '2026-03-01T12:00:05.000Z';
const call = (justNamed: boolean): KnownCall => ({
  tool: 'bash',
  target: 'npm test',
  at: '2026-03-01T12:00:00.000Z',
  justNamed,
});
const base = { seq: 1, at, call_id: 'c', operation_id: 'o' };
const PROJECT = { digest: 'd', date: '2026-03-01', platform: 'linux x64' };

test.each<[string, SessionEvent, boolean, string | undefined]>([
  [
    'a result below its call',
    { ...base, type: 'tool_result', status: 'success', output: 'a\nb\n' },
    true,
    '  ok, 5.0s, 2 lines',
  ],
  [
    'a result below another call',
    { ...base, type: 'tool_result', status: 'success', output: '' },
    false,
    '  bash npm test: ok, 5.0s',
  ],
  [
    'a failure with its last line',
    { ...base, type: 'tool_result', status: 'failed', exit_code: 2, output: 'x\nboom\n' },
    true,
    '  exit 2, 5.0s, boom',
  ],
  [
    'a recovered result',
    { ...base, type: 'tool_result', status: 'success', output: 'a', recovered: true },
    true,
    '  ok, 5.0s, recovered, 1 line',
  ],
  [
    'an uncertain operation',
    { ...base, type: 'tool_recovery', status: 'unknown', evidence: 'e', by: 'tool' },
    true,
    '~ recovery: its outcome is not known; the model is told the evidence: bash npm test',
  ],
  [
    'a project that changed',
    {
      seq: 1,
      at,
      type: 'project_loaded',
      project: { ...PROJECT, instructions: [], unchanged: false },
      changes: [
        { path: 'AGENTS.md', change: 'changed' },
        { path: `.agents/skills/${ESCAPE}[2J\u202Ex/SKILL.md`, change: 'removed' },
      ],
    },
    true,
    '- project: AGENTS.md changed, .agents/skills/x/SKILL.md removed',
  ],
  [
    'a project with something that can not be used',
    {
      seq: 1,
      at,
      type: 'project_loaded',
      project: {
        ...PROJECT,
        instructions: [],
        problems: [{ path: 'AGENTS.md', problem: 'no regular file' }],
      },
    },
    true,
    '- project: AGENTS.md is not used: no regular file',
  ],
  [
    'a project that did not change',
    { seq: 1, at, type: 'project_loaded', project: { ...PROJECT, unchanged: true } },
    true,
    undefined,
  ],
  [
    'what nobody needs to know',
    { seq: 1, at, type: 'run_started', trigger: 'message', message_ids: [] },
    true,
    undefined,
  ],
])('%s', (_name, event, justNamed, line) => {
  expect(eventLine(event, { columns: 100, styles: plain, call: () => call(justNamed) })).toBe(line);
  const narrow = eventLine(event, { columns: 30, styles: plain, call: () => call(justNamed) }) ?? '';
  expect(widthOf(narrow)).toBeLessThanOrEqual(30);
});

test('any event fits on a line', () => {
  const event: SessionEvent = { ...base, type: 'tool_result', status: 'success', output: 'x\n'.repeat(500) };
  expect(widthOf(eventText(event, 40, plain))).toBeLessThanOrEqual(40);
});
