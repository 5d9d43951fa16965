import { expect, test } from 'vitest';
import { contextWindow } from '../../src/domain/contextWindow.ts';

test.each([
  ['gpt-5.5', 272_000],
  ['gpt-5.1-codex-max', 272_000],
  ['gpt-5-2025-08-07', 272_000],
  ['openai/gpt-5.5', 272_000],
  ['openrouter/openai/gpt-5-mini', 272_000],
  ['gpt-5.2-chat-latest', 128_000],
  ['gpt-4.1-mini-2025-04-14', 1_047_576],
  ['gpt-4o-mini', 128_000],
  ['gpt-4-turbo', 128_000],
  ['o3', 200_000],
  ['o4-mini-2025-04-16', 200_000],
  ['anthropic/claude-sonnet-4.5', 200_000],
  ['google/gemini-2.5-pro', 1_048_576],
  ['deepseek-chat', 128_000],
  ['Qwen/Qwen3-Coder-480B-A35B-Instruct', 262_144],
  ['openai/gpt-oss-120b', 131_072],
  ['my-local-model', 128_000],
  ['constructor', 128_000],
  ['', 128_000],
])('the window of %j is %i tokens', (model, tokens) => {
  expect(contextWindow({ model })).toBe(tokens);
});

test('what the settings say wins', () => {
  expect(contextWindow({ model: 'gpt-5.5', context_window: 8_192 })).toBe(8_192);
});
