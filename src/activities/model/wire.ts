/** What exactly a model is sent, for the call itself, for the audit and for `holdfast context`. */
import { createHash } from 'node:crypto';
import { chatMessages } from './chatWire.ts';
import type { ModelRequest } from './request.ts';
import { responsesInput } from './responsesWire.ts';

/** The value of `messages` (chat) or `input` (responses). */
export function wireMessages(
  request: Pick<ModelRequest, 'api'> & Parameters<typeof chatMessages>[0],
): unknown[] {
  return request.api === 'chat' ? chatMessages(request) : responsesInput(request);
}

/** sha256, in hex, of the messages' JSON as it is sent. */
export function contextDigest(request: Parameters<typeof wireMessages>[0]): string {
  return createHash('sha256')
    .update(JSON.stringify(wireMessages(request)))
    .digest('hex');
}
