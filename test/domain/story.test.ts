import { describe, expect, test } from 'vitest';
import type { EventBody } from '../../src/domain/event.ts';
import { tellStory } from '../../src/domain/story.ts';
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

function story(...bodies: EventBody[]): string {
  const events = log(...bodies);
  return tellStory(stateOf(events), events);
}

const CALLING = [message('m1'), started('m1'), loaded, called(4), replied('I look.', asked('c0', 'c1'))];

test('the story says what the session is, what it waits for, what is unknown, and what it did last', () => {
  expect(
    story(
      created(),
      ...CALLING,
      accepted('c0'),
      accepted('c1'),
      recovery('c0', 'unknown'),
      { type: 'approval_requested', call_id: 'c1' },
      result('c9', 'found', { recovered: true }),
    ),
  ).toBe(
    `**a test** · active · waiting_approval

Workspace \`/w\` on \`h\` · model \`m\` · run 1 · 0 queued

### Waiting for approval

- \`c1\` bash: run c1

### Uncertain operations

- \`c0\` bash: run c0 is **unknown**. Evidence of c0.

### Last steps

- user: text of m1
- agent: I look.
- bash: run c0
- bash: run c1
- recovery: unknown. Evidence of c0.
- result success (recovered): found`,
  );
});

test('the story tells the last eight steps, each in one short line', () => {
  const many = Array.from({ length: 12 }, (_, index) => result(`c${index}`, `${index} ${'x\n'.repeat(200)}`));
  const steps =
    story(created(), ...CALLING, ...many)
      .split('### Last steps\n\n')[1]
      ?.split('\n') ?? [];
  expect(steps).toHaveLength(8);
  expect(steps[0]).toMatch(/^- result success: 4 x x .*…$/);
  expect(Math.max(...steps.map((line) => line.length))).toBeLessThan(160);
});

test('a cut never leaves half of a character', () => {
  const text = story(created(), { ...message('m1'), text: `${'x'.repeat(119)}🙂` } as EventBody);
  expect(text.isWellFormed()).toBe(true);
});

test('the end of a run is told with its error', () => {
  const error = { code: 'model.auth', message: 'no key', remedy: 'set one' };
  const failed = { ...finished('failed'), error } as EventBody;
  expect(story(created(), ...CALLING, failed)).toContain('- run ended: failed: no key');
});

describe('what users, models and files say stays text', () => {
  const EVIL = 'x`\n\n# Owned\n\n- [click](http://evil) **b** <img src=x> ~~s~~ &lt;';

  test('in the title', () => {
    const [line] = story({ ...created(), title: EVIL } as EventBody).split('\n');
    expect(line).toBe(
      '**x\\` \\# Owned - \\[click\\](http://evil) \\*\\*b\\*\\* \\<img src=x\\> \\~\\~s\\~\\~ \\&lt;** · active · idle',
    );
  });

  test('in the workspace, the host and the model', () => {
    const settings = { model: EVIL };
    const text = story({ ...created(settings), workspace: { host: EVIL, path: EVIL } } as EventBody);
    const [, line] = text.split('\n\n');
    const quoted = `\`\`${EVIL.replaceAll(/\s+/g, ' ')}\`\``;
    expect(line).toBe(`Workspace ${quoted} on ${quoted} · model ${quoted} · run 0 · 0 queued`);
  });

  test('in the ids, tools, targets and evidence of calls', () => {
    const call = accepted(EVIL, { target: EVIL, operation_id: 'op', tool: EVIL });
    const lost = recovery(EVIL, 'unknown', { operation_id: 'op', evidence: EVIL });
    const text = story(created(), ...CALLING, call, { type: 'approval_requested', call_id: EVIL }, lost);
    // Nothing but what the story itself writes begins a line.
    for (const line of text.split('\n')) expect(line).toMatch(/^($|\*\*a test|Workspace |### |- )/);
    expect(text.match(/^#+ .*$/gm)).toEqual(['### Uncertain operations', '### Last steps']);
    // Outside of inline code, and the story's own emphasis, everything is escaped.
    const said = text
      .replaceAll(/``.*?[^`]``(?!`)|`[^`\n]*`/g, '')
      .replaceAll(/\*\*(a test|unknown)\*\*/g, '');
    expect(said).not.toMatch(/(?<!\\)[`*[<~&]/);
  });

  test.each([
    ['`', '`` ` ``'],
    ['a``b', '```a``b```'],
    ['`a', '`` `a ``'],
    ['a`', '`` a` ``'],
    ['a\\', '`a\\`'],
    ['a\nb', '`a b`'],
    ['', '`  `'],
  ])('as inline code %j is %s', (path, code) => {
    expect(story({ ...created(), workspace: { host: 'h', path } } as EventBody)).toContain(
      `Workspace ${code} on `,
    );
  });
});
