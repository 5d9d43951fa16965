/** Which provider a base URL means. */
import { ModelCallError } from './callError.ts';

const OPENAI_BASE_URL = 'https://api.openai.com/v1';

/**
 * The name under which reasoning items are remembered: `openai`, or the origin of the base URL
 * (`http://127.0.0.1:8080`). A text that is no URL is its own name.
 */
export function providerId(base_url: string | null): string {
  if (base_url === null) return 'openai';
  const origin = URL.canParse(base_url) ? new URL(base_url).origin : base_url;
  return origin === new URL(OPENAI_BASE_URL).origin ? 'openai' : origin;
}

/** The base URL to call. Throws ModelCallError `bad_base_url` when it is none. */
export function checkedBaseUrl(base_url: string | null): string {
  if (base_url === null) return OPENAI_BASE_URL;
  if (!URL.canParse(base_url) || !/^https?:$/.test(new URL(base_url).protocol)) {
    throw new ModelCallError(
      'bad_base_url',
      `Expected a base URL like ${OPENAI_BASE_URL}, found ${JSON.stringify(base_url)}.`,
    );
  }
  return base_url;
}
