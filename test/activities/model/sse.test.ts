import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bodyEvents } from '../../../src/activities/model/bodyEvents.ts';
import { responseTexts } from '../../../src/activities/model/responseTexts.ts';
import { SseDecoder, type ServerSentEvent } from '../../../src/activities/model/sse.ts';

const STREAM =
  ': keep-alive\r\nevent: a\r\nid: 1\r\ndata: {"x":"ä😀"}\r\n\r\n' +
  'data:{"x":\ndata: 2}\n\n' +
  'retry: 5\n\n' +
  'data: last\r\r' +
  'data: without the empty line';

const EVENTS: ServerSentEvent[] = [
  { event: 'a', data: '{"x":"ä😀"}' },
  { event: '', data: '{"x":\n2}' },
  { event: '', data: 'last' },
  { event: '', data: 'without the empty line' },
];

function cut<T extends { length: number; slice: (start: number, end: number) => T }>(
  whole: T,
  cuts: number[],
): T[] {
  const ends = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
  return ends.slice(1).map((end, index) => whole.slice(ends[index] ?? 0, end));
}

test('events are the same however the text is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length)), (cuts) => {
      const decoder = new SseDecoder();
      expect([...cut(STREAM, cuts).flatMap((text) => decoder.push(text)), ...decoder.end()]).toEqual(EVENTS);
    }),
  );
});

test('characters are the same however the bytes are cut', async () => {
  const bytes = Buffer.from('\uFEFF' + STREAM);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (cuts) => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const piece of cut<Uint8Array>(bytes, cuts)) {
            if (piece.length > 0) controller.enqueue(piece);
          }
          controller.close();
        },
      });
      const texts = await collect(responseTexts(new Response(body), () => {}));
      expect(texts.join('')).toBe(STREAM);
    }),
    { numRuns: 50 },
  );
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

test('a body that begins like an object is one object, whatever its pieces', async () => {
  expect(await collect(bodyEvents(pieces('\n ', ' {"a"', ':1}')))).toEqual([
    { kind: 'whole', json: { a: 1 } },
  ]);
});

test.each([
  [
    'an error event',
    'event: error\ndata: {"code":"server_error","message":"boom"}\n\n',
    { code: 'server_error' },
  ],
  [
    'a typed error',
    'data: {"type":"error","code":"rate_limit_exceeded","message":"boom"}\n\n',
    {
      code: 'rate_limit_exceeded',
    },
  ],
  [
    'an error object',
    'data: {"error":{"type":"overloaded","code":502,"message":"boom"}}\n\n',
    {
      type: 'overloaded',
      status: 502,
    },
  ],
  ['an error text', 'data: {"error":"boom"}\n\n', {}],
  [
    'a failed response',
    'data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"boom"}}}\n\n',
    { code: 'server_error' },
  ],
  ['an object in the place of a stream', '{"error":{"message":"boom"}}', {}],
])('%s is reported', async (_, text, reported) => {
  await expect(collect(bodyEvents(pieces(text)))).rejects.toMatchObject({
    kind: 'reported',
    message: 'boom',
    reported,
  });
});

test.each([
  ['HTML', '<!doctype html><title>502</title>'],
  ['broken JSON in an event', 'data: {"a":\n\n'],
  ['a broken object', '{"a":'],
])('%s is malformed', async (_, text) => {
  await expect(collect(bodyEvents(pieces(text)))).rejects.toMatchObject({ kind: 'malformed' });
});
