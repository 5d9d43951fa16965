/**
 * What the model is told of a request that is over. It is built from the receipt alone, so that a result
 * that was recovered after a crash reads like one that was not.
 */
import { isUtf8 } from 'node:buffer';
import { OUTPUT_MAX_BYTES } from '../../domain/limits.ts';
import type { BlobRef, ToolOutcome } from '../../domain/tool.ts';
import { hasCode } from '../../host/files.ts';
import { boundOutput, type BoundedOutput } from '../tools/boundedOutput.ts';
import type { ToolContext } from '../tools/tool.ts';
import { cleanString, CODE_POINT_MAX_BYTES } from '../tools/utf8.ts';
import type { Receipt } from './proofs.ts';
import { isReading } from './redirects.ts';

const HEADERS_SHOWN = 40;
const HEADER_MAX_CHARS = 300;

type Answered = Extract<Receipt, { kind: 'answered' }>;

/** An answer of 400 or more is a failed call, like a command that ends with another code than 0. */
export async function receiptOutcome(receipt: Receipt, context: ToolContext): Promise<ToolOutcome> {
  if (receipt.kind === 'answered') return answeredOutcome(receipt, context);
  const { method, url, why, interrupted } = receipt;
  const status = interrupted ? 'cancelled' : 'failed';
  if (receipt.kind === 'not_sent') return { status, output: `Nothing was sent to ${url}: ${why}.` };
  const unknown = isReading(method)
    ? ''
    : ' Whether the service acted on it is not known: find out before you send it again.';
  return {
    status,
    output: `${method} ${url} was sent at ${receipt.sent_at}, and no answer came: ${why}.${unknown}`,
  };
}

async function answeredOutcome(receipt: Answered, context: ToolContext): Promise<ToolOutcome> {
  const head = `${headLines(receipt).join('\n')}\n\n`;
  const bounded = await bodyOf(receipt, context, OUTPUT_MAX_BYTES - Buffer.byteLength(head));
  return { ...bounded, status: receipt.status < 400 ? 'success' : 'failed', output: head + bounded.output };
}

function headLines({ status, status_text, method, url, hops, note, headers, cut }: Answered): string[] {
  const more = headers.length - HEADERS_SHOWN;
  return [
    clean(`HTTP ${status} ${status_text}`),
    `${method} ${url}`,
    ...hops.map((hop) => `[redirected: ${hop.method} ${hop.url} answered ${hop.status}]`),
    ...(note === undefined ? [] : [clean(`[the redirect was not followed: ${note}]`)]),
    ...headers.slice(0, HEADERS_SHOWN).map(([name, value]) => clean(`${name}: ${value}`)),
    ...(more > 0 ? [`[and ${more} more headers]`] : []),
    ...(cut === undefined ? [] : [`[the body is not whole: ${cut}]`]),
  ];
}

async function bodyOf(receipt: Answered, context: ToolContext, max_bytes: number): Promise<BoundedOutput> {
  const { body: ref } = receipt;
  if (ref.bytes === 0) return { output: '(no body)' };
  let body: Buffer;
  try {
    body = await context.blobs.read(ref, 0, ref.bytes);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return { output: `(the body of ${ref.bytes} bytes is not on this host any more: blob ${ref.sha256})` };
  }
  const text = textOf(receipt, body);
  return text === undefined
    ? { output: binaryWords(receipt, ref), blob: ref }
    : boundOutput(text, { call_id: context.call_id, blobs: context.blobs, max_bytes });
}

/** The body as UTF-8, or undefined when it is no text. */
function textOf(receipt: Answered, body: Buffer): Uint8Array | undefined {
  const encoding = header(receipt, 'content-encoding') ?? 'identity';
  if (encoding !== 'identity' || body.subarray(0, 8192).includes(0)) return undefined;
  const charset = charsetOf(receipt);
  if (charset !== undefined) return decoded(body, charset);
  // A body that was cut may end inside of a character.
  const spare = receipt.cut === undefined ? 0 : CODE_POINT_MAX_BYTES - 1;
  for (let less = 0; less <= spare; less += 1) {
    const part = body.subarray(0, body.length - less);
    if (isUtf8(part)) return part;
  }
  return undefined;
}

/** Undefined: UTF-8, or not said. */
function charsetOf(receipt: Answered): string | undefined {
  const charset = /charset="?([\w-]+)/i.exec(header(receipt, 'content-type') ?? '')?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset) ? undefined : charset;
}

function decoded(body: Buffer, charset: string): Uint8Array | undefined {
  try {
    return Buffer.from(new TextDecoder(charset).decode(body));
  } catch {
    return undefined; // a charset that nobody knows
  }
}

function binaryWords(receipt: Answered, ref: BlobRef): string {
  const type = header(receipt, 'content-type') ?? 'no content-type';
  const encoding = header(receipt, 'content-encoding');
  const encoded = encoding === undefined ? '' : `, content-encoding ${encoding}`;
  return clean(
    `[the body is no text that can be shown: ${type}${encoded}, ${ref.bytes} bytes, sha256 ${ref.sha256}]`,
  );
}

function header({ headers }: Answered, wanted: string): string | undefined {
  return headers.find(([name]) => name === wanted)?.[1];
}

/** One line of a bounded length. */
function clean(text: string): string {
  const line = cleanString(text).replaceAll(/\p{Cc}+/gu, ' ');
  return line.length > HEADER_MAX_CHARS ? `${line.slice(0, HEADER_MAX_CHARS).toWellFormed()}…` : line;
}
