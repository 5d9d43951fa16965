import type { ContextMessage, ToolDefinition } from '../../domain/model.ts';
export interface TokenCounter {
  message: (m: ContextMessage) => number;
  request: (r: { messages: ContextMessage[]; tools: ToolDefinition[] }) => number;
}
export async function tokenCounter(): Promise<TokenCounter> {
  const n = (x: unknown): number => Math.ceil(JSON.stringify(x).length / 4);
  return { message: n, request: ({ messages, tools }) => n(messages) + n(tools) };
}
