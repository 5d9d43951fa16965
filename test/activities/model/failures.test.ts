import { APIConnectionError, APIError } from 'openai';
import { describe, expect, test } from 'vitest';
import { ModelCallError, type ReportedError } from '../../../src/activities/model/callError.ts';
import { modelFailure } from '../../../src/activities/model/failures.ts';
import { RETRY_AFTER_MAX_MS, retryAfterMs } from '../../../src/activities/model/retryAfter.ts';

const KEY = 'sk-secret-of-the-test';
const ENDPOINT = { base_url: 'https://user:pw@example.com/v1', api_key: KEY, model: 'm' };
const NOW = Date.parse('2026-03-01T12:00:00Z');

/** As the SDK makes it from a response. */
function http(status: number, error: object | string, headers: Record<string, string> = {}): APIError {
  const body = typeof error === 'string' ? undefined : { error };
  return APIError.generate(status, body, typeof error === 'string' ? error : undefined, new Headers(headers));
}

function network(code: string): APIConnectionError {
  const cause = new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code }) });
  return new APIConnectionError({ message: 'Connection error.', cause });
}

function reported(message: string, details: ReportedError = {}): ModelCallError {
  return new ModelCallError('reported', message, { reported: details });
}

function tooLong(message: string, status = 400): APIError {
  return http(status, { message, type: 'invalid_request_error' });
}

const NEVER = true;
const AGAIN = false;

describe('the table', () => {
  test.each([
    [http(401, { message: 'bad key', code: 'invalid_api_key' }), 'model.auth', NEVER],
    [http(403, { message: 'not for you' }), 'model.auth', NEVER],
    [reported('bad key', { type: 'authentication_error' }), 'model.auth', NEVER],
    [new ModelCallError('missing_key', 'none'), 'model.auth', NEVER],
    [http(404, { message: 'no such model', code: 'model_not_found' }), 'model.not_found', NEVER],
    [http(400, { message: 'no', code: 'model_not_found' }), 'model.not_found', NEVER],
    [http(400, { message: 'orphan tool call' }), 'model.bad_request', NEVER],
    [http(422, { message: 'field required' }), 'model.bad_request', NEVER],
    [http(405, { message: 'method not allowed' }), 'model.bad_request', NEVER],
    [reported('bad prompt', { code: 'invalid_prompt' }), 'model.bad_request', NEVER],
    [new ModelCallError('bad_base_url', 'none'), 'model.bad_request', NEVER],
    [http(408, { message: 'timeout' }), 'model.rate_limited', AGAIN],
    [http(409, { message: 'locked' }), 'model.rate_limited', AGAIN],
    [http(429, { message: 'slow down', code: 'rate_limit_exceeded' }), 'model.rate_limited', AGAIN],
    [reported('slow down', { code: 'rate_limit_exceeded' }), 'model.rate_limited', AGAIN],
    [reported('slow down', { status: 429 }), 'model.rate_limited', AGAIN],
    [http(429, { message: 'no money', code: 'insufficient_quota' }), 'model.quota_exhausted', NEVER],
    [http(402, { message: 'no money' }), 'model.quota_exhausted', NEVER],
    [http(500, { message: 'oops' }), 'model.unavailable', AGAIN],
    [http(503, '<html><head><title>503 Busy</title></head></html>'), 'model.unavailable', AGAIN],
    [http(529, { message: 'overloaded', type: 'overloaded_error' }), 'model.unavailable', AGAIN],
    [reported('oops', { code: 'server_error' }), 'model.unavailable', AGAIN],
    [reported('upstream', { status: 502 }), 'model.unavailable', AGAIN],
    [network('ECONNREFUSED'), 'model.unavailable', AGAIN],
    [network('ECONNRESET'), 'model.unavailable', AGAIN],
    [network('ENOTFOUND'), 'model.unavailable', AGAIN],
    [network('UND_ERR_CONNECT_TIMEOUT'), 'model.unavailable', AGAIN],
    [new ModelCallError('broken', 'cut'), 'model.unavailable', AGAIN],
    [new Error('never seen before'), 'model.unavailable', AGAIN],
    [http(500, { message: 'template', type: 'invalid_request_error' }), 'model.unavailable', AGAIN],
    [Object.assign(new Error('no space left'), { code: 'ENOSPC' }), 'model.unavailable', AGAIN],
    [new ModelCallError('stalled', 'silence'), 'model.stalled', AGAIN],
    [network('UND_ERR_HEADERS_TIMEOUT'), 'model.stalled', AGAIN],
    [
      new ModelCallError('broken', 'cut', {
        cause: new TypeError('terminated', {
          cause: Object.assign(new Error('x'), { code: 'UND_ERR_BODY_TIMEOUT' }),
        }),
      }),
      'model.stalled',
      AGAIN,
    ],
    [new ModelCallError('malformed', 'no JSON'), 'model.malformed', AGAIN],
    [http(400, { message: 'x', code: 'context_length_exceeded' }), 'model.context_too_long', NEVER],
    [reported('x', { code: 'context_length_exceeded' }), 'model.context_too_long', NEVER],
    [http(400, { message: 'x', type: 'exceed_context_size_error' }), 'model.context_too_long', NEVER],
    [http(413, { message: 'x', type: 'request_too_large' }), 'model.context_too_long', NEVER],
  ])('%s', (error, type, nonRetryable) => {
    const failure = modelFailure(error, ENDPOINT, NOW);
    expect(failure).toMatchObject({ type, nonRetryable });
    expect(failure.details).toEqual([{ remedy: expect.stringMatching(/\w{3}.*\.$/) }]);
  });

  test.each([
    ["This model's maximum context length is 8192 tokens. However, you requested 9000 tokens"],
    ['Your input exceeds the context window of this model. Please adjust your input and try again.'],
    ['the request exceeds the available context size. try increasing the context size'],
    ['request (18023 tokens) exceeds the available context size (4096 tokens), try increasing it'],
    ['The decoder prompt (length 9000) is longer than the maximum model length of 8192.'],
    ['prompt is too long: 208310 tokens > 200000 maximum'],
    ['input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000'],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'],
    ["This model's maximum prompt length is 131072 but the request contains 140000 tokens."],
    ['Please reduce the length of the messages or completion.'],
    ["This endpoint's maximum context length is 32768 tokens."],
    ['Trying to keep the first 9000 tokens when context the overflows.'],
    ['Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.'],
  ])('too long: %s', (message) => {
    expect(modelFailure(tooLong(message), ENDPOINT)).toMatchObject({ type: 'model.context_too_long' });
  });
});

describe('what a failure says', () => {
  test('the place, the status and the provider’s own words', () => {
    const { message } = modelFailure(http(400, { message: 'orphan tool call' }), ENDPOINT);
    expect(message).toBe(
      'The model provider refused the request (m at https://example.com/v1, HTTP 400): orphan tool call',
    );
  });

  test('never the key, nor what a base URL carries', () => {
    const failure = modelFailure(http(401, { message: `Incorrect API key: ${KEY}` }), ENDPOINT);
    expect(JSON.stringify([failure.message, failure.details])).not.toMatch(/sk-secret|user:pw/);
    expect(failure.cause).toBeUndefined();
    expect(failure.message).toContain('Incorrect API key: [key]');
  });

  test('which variable to set', () => {
    const failure = modelFailure(http(401, { message: 'no' }), { ...ENDPOINT, base_url: null });
    expect(failure.details).toEqual([
      { remedy: 'Set OPENAI_API_KEY to a valid key for api.openai.com, then send a message.' },
    ]);
  });

  test('long texts are cut, HTML is reduced to its title', () => {
    expect(Buffer.byteLength(modelFailure(http(400, 'x\0é'.repeat(5000)), ENDPOINT).message)).toBeLessThan(
      1200,
    );
    const page = http(502, '<html><head><title>Bad Gateway</title></head><body><p>nginx</p></body></html>');
    expect(modelFailure(page, ENDPOINT).message).toMatch(/: Bad Gateway$/);
  });

  test('the provider’s name for the request', () => {
    const error = http(500, { message: 'oops' }, { 'x-request-id': 'req_1' });
    expect(modelFailure(error, ENDPOINT).message).toContain('HTTP 500, request req_1)');
  });

  test('a full disk, which is no fault of the provider', () => {
    const error = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const { message, details } = modelFailure(error, ENDPOINT);
    expect(message).toMatch(/^The journal .* ENOSPC: no space left on device/);
    expect(JSON.stringify(details)).toContain('Free space in HOLDFAST_HOME');
  });

  test('the same when it is asked twice', () => {
    const failure = modelFailure(http(401, { message: 'no' }), ENDPOINT);
    expect(modelFailure(failure, ENDPOINT)).toBe(failure);
  });

  test('the code of a network error', () => {
    expect(modelFailure(network('ECONNREFUSED'), ENDPOINT).message).toContain('ECONNREFUSED');
  });

  test('when to try again, where the provider says so and trying helps', () => {
    const headers = { 'retry-after': '7' };
    expect(modelFailure(http(429, { message: 'x' }, headers), ENDPOINT).nextRetryDelay).toBe(7_000);
    expect(modelFailure(http(503, { message: 'x' }, headers), ENDPOINT).nextRetryDelay).toBe(7_000);
    expect(modelFailure(http(400, { message: 'x' }, headers), ENDPOINT).nextRetryDelay).toBeUndefined();
  });
});

test.each([
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': 'Sun, 01 Mar 2026 12:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Sun, 01 Mar 2026 11:00:00 GMT' }, undefined],
  [{ 'retry-after-ms': '1250', 'retry-after': '9' }, 1_250],
  [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9_000],
  [{ 'retry-after': '86400' }, RETRY_AFTER_MAX_MS],
  [{ 'retry-after': '0' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
])('Retry-After of %j is %s ms', (headers, ms) => {
  expect(retryAfterMs(new Headers(headers as Record<string, string>), NOW)).toBe(ms);
});
