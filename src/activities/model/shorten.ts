/** Messages with their long texts cut in the middle, for a request that does not fit otherwise. */
import type { ContextMessage, ModelToolCall } from '../../domain/model.ts';

/** `message` with no text of more than about `max_chars` characters; what leads the conversation stays whole. */
export function shortened(message: ContextMessage, max_chars: number): ContextMessage {
  switch (message.role) {
    case 'system':
      return message;
    case 'user':
    case 'tool':
      return { ...message, text: cut(message.text, max_chars) };
    case 'assistant':
      return {
        role: 'assistant',
        text: cut(message.text, max_chars),
        reasoning: null,
        tool_calls: message.tool_calls.map((call) => cutArguments(call, max_chars)),
      };
    default:
      return message satisfies never;
  }
}

function cutArguments(call: ModelToolCall, max_chars: number): ModelToolCall {
  if (call.arguments.length <= max_chars) return call;
  return { ...call, arguments: JSON.stringify({ cut: cut(call.arguments, max_chars) }) };
}

function cut(text: string, max_chars: number): string {
  if (text.length <= max_chars) return text;
  const half = Math.floor(max_chars / 2);
  const head = text.slice(0, half).toWellFormed();
  const tail = text.slice(-half).toWellFormed();
  return `${head}\n[${text.length - 2 * half} characters left out]\n${tail}`;
}
