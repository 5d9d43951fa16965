/** A response's body as JSON events, whatever its Content-Type says: a stream, or one object. */
import { ModelCallError } from './callError.ts';
import { asRecord, asText, type JsonRecord } from './json.ts';
import { SseDecoder, type ServerSentEvent } from './sse.ts';

export type BodyEvent =
  | { kind: 'event'; json: unknown }
  /** The server ignored `stream: true` and sent the whole reply. */
  | { kind: 'whole'; json: unknown }
  /** `[DONE]`. */
  | { kind: 'done' };

/** What is quoted of a body that is no reply. */
export const QUOTED_CHARS = 300;

/**
 * Reads a body. Throws ModelCallError: `malformed` for what is no JSON, `reported` for an error that the
 * provider sends in the stream.
 */
export async function* bodyEvents(texts: AsyncIterable<string>): AsyncGenerator<BodyEvent> {
  const decoder = new SseDecoder();
  // A stream begins with a field or a comment; a JSON object or an HTML page begins like no field does.
  let head = '';
  let whole: string[] | undefined;
  for await (const text of texts) {
    if (whole !== undefined) {
      whole.push(text);
      continue;
    }
    if (head === '') {
      head = text.trimStart();
      if (head === '') continue;
      if (/^[{[<]/.test(head)) {
        whole = [text];
        continue;
      }
    }
    for (const event of decoder.push(text)) yield toBodyEvent(event);
  }
  if (whole !== undefined) yield { kind: 'whole', json: checked(parse(whole.join('')), '') };
  else for (const event of decoder.end()) yield toBodyEvent(event);
}

function toBodyEvent({ event, data }: ServerSentEvent): BodyEvent {
  if (data.trim() === '[DONE]') return { kind: 'done' };
  return { kind: 'event', json: checked(parse(data), event) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const quoted = JSON.stringify(text.slice(0, QUOTED_CHARS).trim());
    throw new ModelCallError('malformed', `Expected JSON in the model's reply, found ${quoted}.`, {
      cause: error,
    });
  }
}

function checked(json: unknown, event: string): unknown {
  const error = errorIn(asRecord(json), event);
  if (error === undefined) return json;
  const code = error['code'];
  throw new ModelCallError('reported', asText(error['message']) || JSON.stringify(error), {
    reported: {
      ...(typeof code === 'number' ? { status: code } : {}),
      ...(typeof code === 'string' ? { code } : {}),
      ...(typeof error['type'] === 'string' ? { type: error['type'] } : {}),
    },
  });
}

/** OpenAI's `error` event and `response.failed`, and the `{"error": …}` of everybody else. */
function errorIn(json: JsonRecord, event: string): JsonRecord | undefined {
  const error = json['error'];
  if (typeof error === 'string' && error !== '') return { message: error };
  if (typeof error === 'object' && error !== null) return asRecord(error);
  if (json['type'] === 'error' || event === 'error') return { ...json, type: undefined };
  const response = asRecord(json['response']);
  const failed = json['type'] === 'response.failed' || response['status'] === 'failed';
  if (!failed) return undefined;
  return { message: 'The response failed without a reason.', ...asRecord(response['error']) };
}
