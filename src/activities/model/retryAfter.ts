/** How long a provider asks us to wait. */

/** More than this a provider's word does not count. */
export const RETRY_AFTER_MAX_MS = 10 * 60_000;

/**
 * Milliseconds from `retry-after-ms` (OpenAI, Azure) or `Retry-After` in seconds or as an HTTP date
 * (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after); undefined when there is none or it is past.
 */
export function retryAfterMs(headers: Headers | undefined, now: number): number | undefined {
  const ms =
    fromMilliseconds(headers?.get('retry-after-ms')) ?? fromSecondsOrDate(headers?.get('retry-after'), now);
  return ms === undefined || ms <= 0 ? undefined : Math.min(Math.ceil(ms), RETRY_AFTER_MAX_MS);
}

function fromMilliseconds(text: string | null | undefined): number | undefined {
  return isNumber(text) ? Number(text) : undefined;
}

function fromSecondsOrDate(text: string | null | undefined, now: number): number | undefined {
  if (isNumber(text)) return Number(text) * 1000;
  const date = Date.parse(text ?? '');
  return Number.isNaN(date) ? undefined : date - now;
}

function isNumber(text: string | null | undefined): text is string {
  return /^\s*\d+(\.\d+)?\s*$/.test(text ?? '');
}
