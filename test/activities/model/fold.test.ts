import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ARGUMENTS_MAX_BYTES, CALLS_PER_REPLY_MAX, REPLY_MAX_BYTES } from '../../../src/domain/limits.ts';
import type { ModelReply } from '../../../src/domain/model.ts';
import { chatDraft, EMPTY_CHAT, foldChatChunk } from '../../../src/activities/model/chatFold.ts';
import { jsonBytes } from '../../../src/activities/model/cleanText.ts';
import { DeltaJoiner } from '../../../src/activities/model/deltas.ts';
import { finishReply } from '../../../src/activities/model/replyDraft.ts';
import type { ModelDelta } from '../../../src/activities/model/request.ts';
import {
  EMPTY_RESPONSES,
  foldResponsesEvent,
  responsesDraft,
} from '../../../src/activities/model/responsesFold.ts';
import { chunk } from './support.ts';

const MAKER = { provider: 'http://p', model: 'm' };

function foldChat(chunks: object[]): ModelReply {
  return finishReply(chatDraft(chunks.reduce(foldChatChunk, EMPTY_CHAT)), MAKER);
}

function foldResponses(events: object[]): ModelReply {
  return finishReply(responsesDraft(events.reduce(foldResponsesEvent, EMPTY_RESPONSES)), MAKER);
}

function callDelta(fields: object, name?: string, args?: string): object {
  return chunk({ tool_calls: [{ ...fields, function: { name, arguments: args } }] });
}

const END = chunk({}, 'tool_calls');

describe('chat fold', () => {
  test('text, usage at the end and empty choices', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 3,
      prompt_tokens_details: { cached_tokens: 8 },
      completion_tokens_details: { reasoning_tokens: 1 },
    };
    expect(
      foldChat([
        { choices: [] },
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'Hel' }),
        chunk({ content: 'lo' }),
        chunk({}, 'stop'),
        { choices: [], usage },
      ]),
    ).toEqual({
      text: 'Hello',
      reasoning: null,
      tool_calls: [],
      usage: { input_tokens: 10, cached_input_tokens: 8, output_tokens: 3, reasoning_tokens: 1 },
      finish_reason: 'stop',
      notes: [],
    });
  });

  test.each([
    ['in the choice', { choices: [{ delta: {}, finish_reason: 'stop', usage: { prompt_tokens: 4 } }] }],
    ['in x_groq', { ...chunk({}, 'stop'), x_groq: { usage: { prompt_tokens: 4 } } }],
    ['as null until the end', { ...chunk({}, 'stop'), usage: { prompt_tokens: 4, completion_tokens: null } }],
  ])('usage %s', (_, last) => {
    expect(foldChat([{ ...chunk({ content: 'x' }), usage: null }, last]).usage).toEqual({
      input_tokens: 4,
      cached_input_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
    });
  });

  const BOTH = [
    { call_id: 'a', tool: 'bash', arguments: '{"n":1}' },
    { call_id: 'b', tool: 'bash', arguments: '{"n":2}' },
  ];

  test.each([
    [
      'by index, interleaved',
      [
        callDelta({ index: 0, id: 'a' }, 'bash', ''),
        callDelta({ index: 1, id: 'b' }, 'ba', '{"n"'),
        callDelta({ index: 0 }, undefined, '{"n":1}'),
        callDelta({ index: 1 }, 'sh', ':2}'),
      ],
    ],
    [
      'by id, without indices',
      [
        callDelta({ id: 'a' }, 'bash', '{"n"'),
        callDelta({}, undefined, ':1}'),
        callDelta({ id: 'b' }, 'bash', '{"n":2}'),
      ],
    ],
    [
      'all with index 0',
      [
        callDelta({ index: 0, id: 'a' }, 'bash', '{"n":1}'),
        callDelta({ index: 0, id: 'b' }, 'bash', '{"n":2}'),
      ],
    ],
    [
      'with id and name in each delta',
      [
        callDelta({ index: 0, id: 'a' }, 'bash', '{"n"'),
        callDelta({ index: 0, id: 'a' }, 'bash', ':1}'),
        callDelta({ index: 1, id: 'b' }, 'bash', '{"n":2}'),
      ],
    ],
    [
      'with arguments as objects',
      [
        chunk({ tool_calls: [{ id: 'a', function: { name: 'bash', arguments: { n: 1 } } }] }),
        chunk({ tool_calls: [{ id: 'b', function: { name: 'bash', arguments: { n: 2 } } }] }),
      ],
    ],
  ])('parallel calls %s', (_, chunks) => {
    expect(foldChat([...chunks, END])).toMatchObject({
      tool_calls: BOTH,
      finish_reason: 'tool_calls',
      notes: [],
    });
  });

  test('calls without id, name or arguments are kept, completed and noted', () => {
    const reply = foldChat([
      callDelta({ index: 0 }, 'git_status', ''),
      callDelta({ index: 1, id: 'x' }, '', '{}'),
      END,
    ]);
    expect(reply.tool_calls).toEqual([
      { call_id: 'call_1', tool: 'git_status', arguments: '{}' },
      { call_id: 'x', tool: '', arguments: '{}' },
    ]);
    expect(reply.notes).toEqual(['Tool call 1 came without an id.', 'Tool call 2 came without a name.']);
  });

  test('an id that is used twice in one reply is left and noted', () => {
    const reply = foldChat([
      callDelta({ index: 0, id: 'a' }, 'bash', '{"n":1}'),
      callDelta({ index: 1, id: 'a' }, 'bash', '{"n":2}'),
      END,
    ]);
    expect(reply.tool_calls.map(({ call_id }) => call_id)).toEqual(['a', 'a']);
    expect(reply.notes).toEqual(['The call id "a" occurs more than once.']);
  });

  test('malformed and cut arguments are passed on as text', () => {
    const reply = foldChat([
      callDelta({ index: 0, id: 'a' }, 'bash', '{"command": "ls'),
      chunk({}, 'length'),
    ]);
    expect(reply.tool_calls[0]?.arguments).toBe('{"command": "ls');
    expect(reply.finish_reason).toBe('length');
  });

  test('reasoning is kept for its maker and is no part of the text', () => {
    const reply = foldChat([
      chunk({ reasoning_content: 'h' }),
      chunk({ reasoning_content: 'm' }),
      chunk({ content: 'yes' }),
      chunk({}, 'stop'),
    ]);
    expect(reply.text).toBe('yes');
    expect(reply.reasoning).toEqual({ ...MAKER, items: [{ message: { reasoning_content: 'hm' } }] });
  });

  test('signed reasoning details and signatures of calls are put together', () => {
    const detail = { type: 'reasoning.text', index: 0 };
    const reply = foldChat([
      chunk({ reasoning: 'h', reasoning_details: [{ ...detail, text: 'h' }] }),
      chunk({ reasoning: 'm', reasoning_details: [{ ...detail, text: 'm' }] }),
      chunk({ reasoning_details: [{ ...detail, signature: 's' }] }),
      chunk({
        tool_calls: [
          { index: 0, id: 'a', function: { name: 'bash', arguments: '{}' }, extra_content: { g: 1 } },
        ],
      }),
      END,
    ]);
    expect(reply.reasoning?.items).toEqual([
      { message: { reasoning_details: [{ ...detail, text: 'hm', signature: 's' }] } },
      { call: 0, fields: { extra_content: { g: 1 } } },
    ]);
  });

  test('a refusal is the text where there is no other', () => {
    const reply = foldChat([chunk({ refusal: 'I ' }), chunk({ refusal: "can't" }), chunk({}, 'stop')]);
    expect(reply).toMatchObject({ text: "I can't", notes: ['The model refused.'] });
  });

  test('content in parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'yes' },
    ];
    expect(foldChat([chunk({ content }), chunk({}, 'stop')]).text).toBe('yes');
  });

  test.each([
    ['stop', 'stop', 0],
    ['length', 'length', 0],
    ['content_filter', 'content_filter', 0],
    ['tool_calls', 'stop', 1],
    ['something_new', 'unknown', 1],
  ])('the finish reason %s without calls is %s', (said, finish_reason, notes) => {
    const reply = foldChat([chunk({ content: 'x' }), chunk({}, said)]);
    expect(reply.finish_reason).toBe(finish_reason);
    expect(reply.notes).toHaveLength(notes);
  });

  test('calls count, whatever the finish reason says', () => {
    const reply = foldChat([callDelta({ index: 0, id: 'a' }, 'bash', '{}'), chunk({}, 'stop')]);
    expect(reply.finish_reason).toBe('tool_calls');
    expect(reply.notes).toHaveLength(1);
  });
});

describe('bounds of a reply', () => {
  test('the text is cut, said so, and no pair is cut in two', () => {
    const reply = foldChat([chunk({ content: '😀'.repeat(REPLY_MAX_BYTES / 4) }), chunk({}, 'stop')]);
    expect(jsonBytes(reply.text)).toBeLessThanOrEqual(REPLY_MAX_BYTES);
    expect(reply.text).toMatch(/^(😀)+$/u);
    expect(reply.notes).toHaveLength(1);
  });

  test('calls beyond the limit are dropped, their arguments share one bound', () => {
    const args = JSON.stringify({ text: '\n'.repeat(ARGUMENTS_MAX_BYTES / 4) });
    const calls = Array.from({ length: CALLS_PER_REPLY_MAX + 1 }, (_, index) =>
      callDelta({ index, id: `c${index}` }, 'bash', index < 2 ? args : '{}'),
    );
    const reply = foldChat([...calls, END]);
    expect(reply.tool_calls).toHaveLength(CALLS_PER_REPLY_MAX);
    expect(reply.tool_calls[0]?.arguments).toBe(args);
    expect(() => JSON.parse(reply.tool_calls[1]?.arguments ?? '')).toThrow();
    expect(jsonBytes(reply)).toBeLessThan(2 * ARGUMENTS_MAX_BYTES);
    expect(reply.notes[0]).toBe('Of 65 tool calls the first 64 were taken.');
  });

  test('lone surrogates and NUL leave neither in the text nor in calls, reasoning or deltas', () => {
    const reply = foldChat([
      chunk({ content: 'a\uD83D\0', reasoning_content: '\uDE00' }),
      callDelta({ index: 0, id: 'i\0' }, 'n\uD800', '{"x":"\uD800"}'),
      END,
    ]);
    expect(reply).toMatchObject({
      text: 'a\uFFFD\uFFFD',
      tool_calls: [{ call_id: 'i\uFFFD', tool: 'n\uFFFD', arguments: '{"x":"\uFFFD"}' }],
      reasoning: { items: [{ message: { reasoning_content: '\uFFFD' } }] },
    });
    const deltas: ModelDelta[] = [];
    const joiner = new DeltaJoiner((delta) => deltas.push(delta));
    for (const text of ['a\uD83D', '\uDE00b', '\uD800']) joiner.push({ kind: 'text', text });
    joiner.push({ kind: 'reasoning', text: 'c' });
    joiner.end();
    expect(deltas.map(({ text }) => text)).toEqual(['a', '😀b', '\uFFFD', 'c']);
  });
});

describe('responses fold', () => {
  const message = { id: 'msg', type: 'message', role: 'assistant', content: [] };
  const call = { id: 'fc', type: 'function_call', call_id: 'a', name: 'bash', arguments: '' };
  const done = { type: 'response.completed', response: { status: 'completed', output: [] } };

  test('items by their ids, or by nothing at all, where indices are missing', () => {
    const texts = foldResponses([
      { type: 'response.output_item.added', item: message },
      { type: 'response.output_text.delta', item_id: 'msg', delta: 'Hel' },
      { type: 'response.output_text.delta', delta: 'lo' },
      { type: 'response.output_item.added', item: call },
      { type: 'response.function_call_arguments.delta', item_id: 'fc', delta: '{"n"' },
      { type: 'response.function_call_arguments.delta', item_id: 'fc', delta: ':1}' },
      { type: 'response.output_item.done', item: call },
      done,
    ]);
    expect(texts.text).toBe('Hello');
    expect(texts.tool_calls).toEqual([{ call_id: 'a', tool: 'bash', arguments: '{"n":1}' }]);
  });

  test('the final object counts where the stream settled nothing', () => {
    const output = [
      { type: 'reasoning', id: 'rs', encrypted_content: 'AAA', summary: [] },
      { ...message, phase: 'final_answer', content: [{ type: 'output_text', text: 'Hello' }] },
    ];
    const reply = foldResponses([
      { type: 'response.output_text.delta', output_index: 1, item_id: 'msg', delta: 'Hel' },
      { type: 'response.completed', response: { status: 'completed', output } },
    ]);
    expect(reply.text).toBe('Hello');
    expect(reply.reasoning).toEqual({
      ...MAKER,
      items: [output[0], { type: 'message', chars: 5, phase: 'final_answer' }],
    });
  });

  test.each([
    ['max_output_tokens', 'length', 0],
    ['content_filter', 'content_filter', 0],
    ['something_new', 'unknown', 1],
  ])('incomplete for %s is %s', (reason, finish_reason, notes) => {
    const reply = foldResponses([
      { type: 'response.output_text.delta', output_index: 0, delta: 'x' },
      { type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason } } },
    ]);
    expect(reply.finish_reason).toBe(finish_reason);
    expect(reply.notes).toHaveLength(notes);
  });

  test('refusals, items of strange types and missing usage', () => {
    const reply = foldResponses([
      { type: 'response.refusal.delta', output_index: 0, delta: 'no' },
      { type: 'response.output_item.done', output_index: 1, item: { type: 'web_search_call', id: 'w' } },
      done,
    ]);
    expect(reply).toMatchObject({ text: 'no', usage: null, finish_reason: 'stop' });
    expect(reply.notes).toEqual([
      'An output item of type "web_search_call" was ignored.',
      'The model refused.',
    ]);
  });
});

/** Cuts a text anywhere, between the halves of a surrogate pair too. */
function pieces(text: string): fc.Arbitrary<string[]> {
  return fc
    .uniqueArray(fc.nat(text.length), { maxLength: 6 })
    .map((cuts) => [0, ...cuts.toSorted((a, b) => a - b), text.length])
    .map((ends) => ends.slice(1).map((end, index) => text.slice(ends[index], end)));
}

const SPLIT_REPLY = fc
  .record({ text: fc.string({ unit: 'binary' }), args: fc.array(fc.json(), { minLength: 1, maxLength: 3 }) })
  .chain(({ text, args }) =>
    fc.record({
      text: fc.constant(text),
      args: fc.constant(args),
      textPieces: pieces(text),
      argPieces: fc.tuple(...args.map(pieces)),
    }),
  );

describe('any chunking of a reply folds to the same reply', () => {
  test('chat', () => {
    fc.assert(
      fc.property(SPLIT_REPLY, ({ text, args, textPieces, argPieces }) => {
        const whole = foldChat([
          chunk({ content: text }),
          ...args.map((json, index) => callDelta({ index, id: `c${index}` }, 'bash', json)),
          END,
        ]);
        const split = foldChat([
          ...textPieces.map((content) => chunk({ content })),
          ...argPieces.flatMap((texts, index) => [
            callDelta({ index, id: `c${index}` }, 'bash'),
            ...texts.map((piece) => callDelta({ index }, undefined, piece)),
          ]),
          END,
        ]);
        expect(split).toEqual(whole);
      }),
    );
  });

  test('responses', () => {
    fc.assert(
      fc.property(SPLIT_REPLY, ({ text, args, textPieces, argPieces }) => {
        const output = [
          { type: 'message', id: 'msg', content: [{ type: 'output_text', text }] },
          ...args.map((json, index) => ({
            type: 'function_call',
            id: `fc${index}`,
            call_id: `c${index}`,
            name: 'bash',
            arguments: json,
          })),
        ];
        const final = { type: 'response.completed', response: { status: 'completed', output } };
        const added = output.map((item, output_index) => ({
          type: 'response.output_item.added',
          output_index,
          item: { ...item, content: [], arguments: '' },
        }));
        const split = foldResponses([
          ...added,
          ...textPieces.map((delta) => ({ type: 'response.output_text.delta', output_index: 0, delta })),
          ...argPieces.flatMap((texts, index) =>
            texts.map((delta) => ({
              type: 'response.function_call_arguments.delta',
              output_index: index + 1,
              delta,
            })),
          ),
          { ...final, response: { ...final.response, output: [] } },
        ]);
        expect(split).toEqual(foldResponses([final]));
      }),
    );
  });
});
