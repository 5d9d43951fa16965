/** What an error of a model call says about itself, in one form for the table of failures.ts. */
import { ModelCallError, type CallErrorKind } from './callError.ts';
import { asRecord, asText } from './json.ts';

export interface ErrorFacts {
  /** Of our own errors. */
  kind: CallErrorKind | undefined;
  /** HTTP status, also where a gateway reports it inside a 200. */
  status: number | undefined;
  /** The provider's `code` and `type`, in lower case, with a blank between. */
  codes: string;
  /** The provider's own words, or what happened to the connection. */
  text: string;
  headers: Headers | undefined;
  /** The file system's, of the journal. */
  isFile: boolean;
  /** Node's or undici's code of a network error (`ECONNREFUSED`, `UND_ERR_SOCKET`). */
  network: string | undefined;
}

/** Reads an error by its fields, not its class, so that nothing has to import the SDK for it. */
export function errorFacts(error: unknown): ErrorFacts {
  const fields = asRecord(error);
  const own = error instanceof ModelCallError ? error : undefined;
  const status = own === undefined ? fields['status'] : own.reported.status;
  const codes = own === undefined ? [fields['code'], fields['type']] : [own.reported.code, own.reported.type];
  return {
    kind: own?.kind,
    status: typeof status === 'number' ? status : undefined,
    codes: codes
      .filter((code) => typeof code === 'string')
      .join(' ')
      .toLowerCase(),
    text: textOf(error),
    headers: fields['headers'] instanceof Headers ? fields['headers'] : undefined,
    isFile: typeof fields['path'] === 'string' || /^(ENOSPC|EDQUOT|EROFS)$/.test(asText(fields['code'])),
    network: networkCode(error),
  };
}

/** The SDK puts the status before the text. An HTML page is reduced to its title or its words. */
function textOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const text = message.replace(/^\d{3} /, '').trim();
  if (!text.startsWith('<')) return text;
  const title = /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim();
  return (
    title ||
    text
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
  );
}

/** fetch wraps the cause, the SDK wraps fetch; several addresses fail together in an AggregateError. */
function networkCode(error: unknown): string | undefined {
  let cause = asRecord(error);
  while (cause instanceof Error) {
    const inner: unknown = cause instanceof AggregateError ? cause.errors[0] : undefined;
    const code = asText(asRecord(cause)['code']) || asText(asRecord(inner)['code']);
    if (/^(E[A-Z_]+|UND_ERR_\w+|CERT_\w+|\w*_CERT\w*)$/.test(code)) return code;
    cause = asRecord(cause.cause);
  }
  return undefined;
}
