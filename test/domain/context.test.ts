import { describe, expect, test } from 'vitest';
import { buildContext } from '../../src/domain/context.ts';
import { NEVER_BEGUN, NO_RESULT_YET } from '../../src/domain/evidence.ts';
import type { EventBody } from '../../src/domain/event.ts';
import type { ContextMessage } from '../../src/domain/model.ts';
import {
  accepted,
  asked,
  called,
  created,
  finished,
  loaded,
  log,
  message,
  recovery,
  replied,
  result,
  started,
  stateOf,
} from './support/events.ts';
import { problemsOf } from './support/validity.ts';

/** The context after a session that began with one message, without the system message. */
function after(...bodies: EventBody[]): ContextMessage[] {
  const events = log(created(), message('m1'), started('m1'), loaded, ...bodies);
  const messages = buildContext(stateOf(events), events);
  expect(problemsOf(messages)).toEqual([]);
  return messages.slice(1);
}

/** Role and text of each message, in one line. */
function lines(messages: ContextMessage[]): string[] {
  return messages.map(({ role, text }) => `${role}: ${text}`);
}

const ONE_CALL = [called(4), replied('', asked('c0')), accepted('c0')];
const TWO_CALLS = [called(4), replied('', asked('c0', 'c1')), accepted('c0'), accepted('c1')];

test('the system message comes first, then what was said and done, in order', () => {
  const events = log(
    created(),
    message('m1'),
    started('m1'),
    loaded,
    called(4),
    replied('I look.', asked('c0')),
    accepted('c0'),
    result('c0'),
    called(8, 2),
    replied('done', [], { step: 2 }),
    finished(),
  );
  const [system, ...rest] = buildContext(stateOf(events), events);
  expect(system).toMatchObject({ role: 'system', text: expect.stringContaining('workspace: /w') });
  expect(rest).toEqual([
    { role: 'user', text: 'text of m1' },
    { role: 'assistant', text: 'I look.', reasoning: null, tool_calls: asked('c0') },
    { role: 'tool', call_id: 'c0', text: 'output of c0' },
    { role: 'assistant', text: 'done', reasoning: null, tool_calls: [] },
  ]);
});

describe('results', () => {
  test('stand in the order of their calls, whatever the order they came in', () => {
    expect(lines(after(...TWO_CALLS, result('c1'), result('c0'))).slice(2)).toEqual([
      'tool: output of c0',
      'tool: output of c1',
    ]);
  });

  test('stand right after their reply even when they come in a later run', () => {
    const found = [started('m2'), result('c0', 'found later', { recovered: true })];
    expect(
      lines(after(...ONE_CALL, recovery('c0', 'uncertain'), finished('failed'), message('m2'), ...found)),
    ).toEqual(['user: text of m1', 'assistant: ', 'tool: found later', 'user: text of m2']);
  });

  test('that have not come are said to be missing, so the conversation is whole', () => {
    expect(lines(after(...TWO_CALLS, result('c0'))).slice(2)).toEqual([
      'tool: output of c0',
      `tool: ${NO_RESULT_YET}`,
    ]);
  });

  test('of calls that a run never began are told as not run, not as unknown', () => {
    const told = after(...TWO_CALLS, recovery('c0', 'uncertain'), finished('interrupted'));
    expect(told).toContainEqual({ role: 'tool', call_id: 'c1', text: NEVER_BEGUN });
  });

  test('without a call are left out', () => {
    expect(lines(after(result('c9'), recovery('c8', 'not_run')))).toEqual(['user: text of m1']);
  });

  test('belong to their operation, when a model uses the id of an old call again', () => {
    const again = accepted('c0', { operation_id: 'second' });
    const second = [called(8, 2), replied('', asked('c0'), { step: 2 }), again];
    const twice = [...ONE_CALL, result('c0', 'first'), ...second];
    expect(lines(after(...twice))).toContain('tool: first');
    expect(lines(after(...twice)).at(-1)).toBe(`tool: ${NO_RESULT_YET}`);
    expect(
      lines(after(...twice, result('c0', 'last', { operation_id: 'second' }))).filter((line) =>
        line.startsWith('tool'),
      ),
    ).toEqual(['tool: first', 'tool: last']);
  });

  test('are one for each id, when a reply has one id twice', () => {
    const told = after(called(4), replied('', asked('c0', 'c0')), accepted('c0'), result('c0'));
    expect(told.slice(1)).toEqual([
      { role: 'assistant', text: '', reasoning: null, tool_calls: asked('c0') },
      { role: 'tool', call_id: 'c0', text: 'output of c0' },
    ]);
  });
});

describe('recovery', () => {
  const lost = [...ONE_CALL, recovery('c0', 'uncertain')];

  test.each([
    ['unknown', 'UNKNOWN: this call was begun and its result was lost. Evidence of c0.'],
    ['uncertain', 'UNKNOWN: this call was begun and its result was lost. Evidence of c0.'],
    ['not_run', 'Not run. Evidence of c0.'],
  ] as const)('that found %s stands where the result would stand', (status, text) => {
    const [tool] = after(...lost, recovery('c0', status)).filter(({ role }) => role === 'tool');
    expect(tool?.text.startsWith(text)).toBe(true);
  });

  test('that found a running call leaves it open', () => {
    const told = after(...ONE_CALL, recovery('c0', 'running'));
    expect(told.at(-1)).toMatchObject({ role: 'tool', text: NO_RESULT_YET });
  });

  test('that brought the result is told as that result, without a block', () => {
    const told = after(...lost, recovery('c0', 'completed'), result('c0', 'real', { recovered: true }));
    expect(lines(told)).toEqual(['user: text of m1', 'assistant: ', 'tool: real']);
  });

  test('that found nothing is told in a block of the next call, until a reply to that has come', () => {
    const unknown = [...lost, recovery('c0', 'unknown')];
    expect(after(...unknown).at(-1)?.text).toContain('- call c0 (bash: run c0): begun, its end is unknown.');
    // A call that failed was no reply, so the next one says it again.
    const failed = [...unknown, called(9, 2), finished('failed'), message('m2'), started('m2')];
    expect(after(...failed).at(-1)?.text).toContain('<recovery>');
    const answered = [...failed, called(13, 3), replied('I check.', asked('c1')), accepted('c1')];
    expect(lines(after(...answered)).join()).not.toContain('<recovery>');
  });

  test('by a person replaces what the tool could not find out, and the next call is told', () => {
    const word = { by: 'user' as const, evidence: 'I saw the file.' };
    const told = after(...lost, recovery('c0', 'unknown'), recovery('c0', 'completed', word));
    expect(told.find(({ role }) => role === 'tool')?.text).toBe(
      'The result of this call was lost. The user says that it was done. I saw the file.',
    );
    expect(told.at(-1)?.text).toContain('the user says that it was done. I saw the file.');
  });

  test('by a person while the model answers is told to the call after that', () => {
    const word = recovery('c0', 'completed', { by: 'user', evidence: 'I saw the file.' });
    const unknown = [...lost, recovery('c0', 'unknown')];
    const told = after(
      ...unknown,
      called(9, 2),
      word,
      replied('', asked('c1')),
      accepted('c1'),
      result('c1'),
    );
    expect(told.at(-1)?.text).toContain('I saw the file.');
  });
});

describe('messages', () => {
  test('of the queue enter with their run, whatever came before', () => {
    const next = [message('m2'), replied('hello'), finished(), message('m3'), started('m3')];
    expect(lines(after(called(4), ...next))).toEqual([
      'user: text of m1',
      'assistant: hello',
      'user: text of m3',
    ]);
  });

  test('that steer enter with the next call, after the results of the reply before', () => {
    const told = after(...TWO_CALLS, result('c0'), message('m2', 'steer'), result('c1'));
    expect(lines(told).slice(2)).toEqual(['tool: output of c0', 'tool: output of c1', 'user: text of m2']);
  });

  test('that steer while the model answers enter behind its answer', () => {
    const told = after(called(4), message('m2', 'steer'), replied('hello'));
    expect(lines(told).slice(1)).toEqual(['assistant: hello', 'user: text of m2']);
  });
});

describe('an interrupted run', () => {
  const interrupt: EventBody = { type: 'interrupt_requested', by: 'ada' };

  test('says that the user interrupted it, where the user did', () => {
    const told = after(...ONE_CALL, interrupt, result('c0', 'stopped'), finished('interrupted'));
    expect(lines(told).slice(2)).toEqual([
      'tool: stopped',
      expect.stringMatching(/^user: <interrupted>The user interrupted the run here\./),
    ]);
  });

  test('does not blame the user for a crash, also where an earlier run was interrupted', () => {
    const earlier = [interrupt, finished('interrupted'), message('m2'), started('m2'), loaded];
    const told = after(...earlier, ...ONE_CALL, recovery('c0', 'uncertain'), finished('interrupted'));
    const last = told.findLast(({ text }) => text.startsWith('<interrupted>'));
    expect(last?.text).toContain('because its worker was lost');
    expect(told.filter(({ text }) => text.includes('The user interrupted'))).toHaveLength(1);
  });
});

test('a reply with nothing in it leaves no message; one with reasoning alone is kept for its maker', () => {
  const reasoning = { provider: 'openai', model: 'm', items: [] };
  expect(after(called(4), replied(''))).toHaveLength(1);
  expect(after(called(4), replied('', [], { reasoning })).at(-1)).toMatchObject({ reasoning });
});

test('the system message carries the approval policy and the instructions, and says where these were cut', () => {
  const events = log(created({ approval: 'ask' }), {
    type: 'project_loaded',
    project: {
      digest: 'd',
      date: '2026-03-01',
      platform: 'linux x64',
      instructions: [
        { path: '/repo/AGENTS.md', text: 'Be brief.' },
        { path: 'AGENTS.md', text: 'Use tabs.', cut_from_bytes: 99 },
      ],
    },
  });
  const [system] = buildContext(stateOf(events), events);
  expect(system?.text).toContain(
    [
      '<environment>',
      'workspace: /w',
      'host: h',
      'platform: linux x64',
      'date: 2026-03-01',
      'approval: calls with side effects wait until the user approves them',
      '</environment>',
      '',
      '<instructions from="/repo/AGENTS.md">',
      'Be brief.',
      '</instructions>',
      '',
      '<instructions from="AGENTS.md">',
      'Use tabs.',
      '[cut: only the beginning of 99 bytes; read the file for the rest]',
      '</instructions>',
    ].join('\n'),
  );
});
