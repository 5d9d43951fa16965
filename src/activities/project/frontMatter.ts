/** The block between two lines of `---` that a Markdown file may begin with. */
import { parse } from 'yaml';

const MESSAGE_MAX_CHARS = 160;

/** What a skill has to say about itself, or why it is no skill, in a few words for the one who writes it. */
export function frontMatterOf(text: string): { name: string; description: string } | { problem: string } {
  const block = /^\uFEFF?---[ \t]*\r?\n(?:(.*?)\r?\n)?---[ \t]*(?:\r?\n|$)/s.exec(text);
  if (block === null) return { problem: 'no front matter with a name and a description at its beginning' };
  try {
    const value: unknown = parse(block[1] ?? '', { logLevel: 'error' });
    const { name, description } = (value ?? {}) as { name?: unknown; description?: unknown };
    if (typeof name === 'string' && typeof description === 'string') return { name, description };
    return { problem: 'its front matter has no text as name or as description' };
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n');
    const why = line
      .replaceAll(/\p{Cc}/gu, ' ')
      .slice(0, MESSAGE_MAX_CHARS)
      .toWellFormed();
    return { problem: `its front matter is no YAML: ${why}` };
  }
}
