/**
 * Small JSON files in which one process tells others of itself. Each carries a digest of its content, so
 * that a reader knows by one hash that it was written whole by this program, and need not load a schema
 * (30 ms) to trust it. Only a file that fails this is checked against its schema.
 */
import { createHash } from 'node:crypto';
import type { ZodType } from 'zod';
import { readFileIfThere, writeFileAtomic } from './files.ts';

/** A file of ours that is torn, edited or somebody else's. */
export class SealedFileError extends Error {
  override name = 'SealedFileError';
  readonly path: string;

  constructor(path: string, found: string, remedy: string) {
    super(`Expected a state file of Holdfast in ${path}, found ${found}. ${remedy}`);
    this.path = path;
  }
}

/** Replaces `path` atomically with `content` and its digest. Resolves with the file's text. */
export async function writeSealed(path: string, content: object): Promise<string> {
  const text = `${JSON.stringify({ ...content, digest: digestOf(content) })}\n`;
  await writeFileAtomic(path, text);
  return text;
}

/**
 * The content, or undefined when there is no such file. One that was edited by hand is taken if it matches
 * the schema. Rejects with SealedFileError, which ends with `remedy`.
 */
export async function readSealed<T extends object>(
  path: string,
  loadSchema: () => Promise<ZodType<T>>,
  remedy: string,
): Promise<T | undefined> {
  const text = await readFileIfThere(path);
  if (text === undefined) return undefined;
  const parsed = parse(text);
  if (parsed === undefined) {
    throw new SealedFileError(path, `${text.length} characters that are no JSON object`, remedy);
  }
  const { digest, ...content } = parsed;
  if (digest === digestOf(content)) return content as T;
  const checked = (await loadSchema()).safeParse(content);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw new SealedFileError(path, `other content (${issue?.path.join('.')}: ${issue?.message})`, remedy);
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function digestOf(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 32);
}
