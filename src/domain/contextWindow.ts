/** How much a model can be sent, by its name: providers don't say it in any way that all share. */
import type { SessionSettings } from './event.ts';

/** What a model is taken to have that no row names: less than most have, more than a small local server. */
const UNKNOWN_TOKENS = 128_000;

/**
 * Tokens by the beginning of the name; the longest that fits counts. Where a maker's models differ, the least
 * of them: `context_window` in the settings raises it. Sources: https://platform.openai.com/docs/models,
 * https://platform.claude.com/docs/en/build-with-claude/context-windows, https://ai.google.dev/gemini-api/docs/models,
 * https://api-docs.deepseek.com/quick_start/pricing, https://huggingface.co/Qwen/Qwen3-Coder-480B-A35B-Instruct,
 * https://docs.z.ai/guides/llm/glm-4.6, https://docs.x.ai/docs/models.
 */
const WINDOWS: Readonly<Record<string, number>> = {
  // Of 400,000 in all, 128,000 are kept for the reply. The models with 1,050,000 cost double above 272,000.
  'gpt-5': 272_000,
  'gpt-5-chat': 128_000,
  'gpt-5.1-chat': 128_000,
  'gpt-5.2-chat': 128_000,
  'gpt-5.3-chat': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-4o': 128_000,
  'gpt-4': 8_192,
  'gpt-4-turbo': 128_000,
  'gpt-3.5': 16_385,
  'gpt-oss': 131_072,
  o1: 200_000,
  o3: 200_000,
  'o4-mini': 200_000,
  'codex-mini': 200_000,
  claude: 200_000,
  'gemini-2.5': 1_048_576,
  'gemini-3': 1_048_576,
  deepseek: 128_000,
  'qwen3-coder': 262_144,
  'glm-4.5': 131_072,
  'glm-4.6': 200_000,
  'grok-4': 256_000,
  'grok-code-fast': 256_000,
};

const PREFIXES = Object.keys(WINDOWS).toSorted((a, b) => b.length - a.length);

/**
 * Tokens of input that the session's model takes: what the settings say, else by its name, with or without a
 * gateway's prefix (`openai/gpt-5.5`) and a date behind it.
 */
export function contextWindow({
  model,
  context_window,
}: Pick<SessionSettings, 'model' | 'context_window'>): number {
  if (context_window !== undefined) return context_window;
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const prefix = PREFIXES.find((candidate) => name.startsWith(candidate));
  return WINDOWS[prefix ?? ''] ?? UNKNOWN_TOKENS;
}
