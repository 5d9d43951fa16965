/** The form of `holdfast.json`, and of the same settings in flags and environment. */
import { z } from 'zod';
import { readFileIfThere } from './files.ts';

/** With less not even the instructions and the tools fit. */
const CONTEXT_WINDOW_MIN_TOKENS = 4_096;

const settingsSchema = z.strictObject({
  model: z.string().min(1).optional(),
  api: z.enum(['responses', 'chat']).optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  context_window: z.int().min(CONTEXT_WINDOW_MIN_TOKENS).optional(),
  user: z.string().min(1).optional(),
  approval: z.enum(['auto', 'ask', 'read-only']).optional(),
  on_interrupt: z.enum(['continue', 'wait']).optional(),
  /** Of the home's file alone (httpRules.ts). */
  http: z
    .strictObject({
      allow: z.array(
        z.strictObject({
          host: z
            .string()
            .refine(isHost, 'a host, as in example.com or 127.0.0.1:8080, in each rule of `allow`'),
          idempotent: z.boolean().optional(),
        }),
      ),
    })
    .optional(),
});

export type FileSettings = z.infer<typeof settingsSchema>;

/** A setting that is not what it must be. `message` says where, and what was expected and found. */
export class SettingsError extends Error {
  override name = 'SettingsError';
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** The settings of a file, or undefined when there is none. Rejects with SettingsError. */
export async function readSettingsFile(path: string): Promise<FileSettings | undefined> {
  const text = await readFileIfThere(path);
  if (text === undefined) return undefined;
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new SettingsError(
      `Expected JSON in ${path}, found: ${error instanceof Error ? error.message : String(error)}`,
      'Correct the file, or delete it.',
    );
  }
  return checkSettings(content, (key) => (key === '' ? path : `\`${key}\` in ${path}`));
}

/** `content` as settings. Throws SettingsError; `nameOf` says how the user knows a key. */
export function checkSettings(content: unknown, nameOf: (key: string) => string): FileSettings {
  const checked = settingsSchema.safeParse(content);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    throw new SettingsError(
      `Expected one of ${Object.keys(settingsSchema.shape).join(', ')}, found ${nameOf(key)}.`,
      key.includes('key')
        ? 'Keys do not belong into a settings file: give OPENAI_API_KEY in the environment.'
        : 'Remove it, or correct its name.',
    );
  }
  const key = String(issue?.path[0] ?? '');
  const found = key === '' ? content : (content as Record<string, unknown>)[key];
  throw new SettingsError(
    `Expected ${expectation(issue)} for ${nameOf(key)}, found ${JSON.stringify(found)?.slice(0, 80)}.`,
    'Correct it.',
  );
}

function expectation(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.path[0] === 'context_window')
    return `a whole number of tokens, at least ${CONTEXT_WINDOW_MIN_TOKENS},`;
  switch (issue?.code) {
    case 'invalid_value':
      return issue.values.map(String).join(' or ');
    case 'invalid_format':
      return 'an http or https address';
    case 'too_small':
      return 'a text that is not empty';
    case 'invalid_type':
      return `a value of type ${issue.expected}`;
    default:
      return issue?.message ?? 'another value';
  }
}

/** A name or address with or without a port, and nothing else of a URL. */
function isHost(text: string): boolean {
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined;
  return url !== undefined && !/[/?#@\\*\s]/.test(text) && url.pathname === '/';
}
