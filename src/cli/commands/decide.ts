import { HoldfastError } from '../../client/errors.ts';
import { facts, type KnownFacts } from '../../client/facts.ts';
import { resolveId } from '../../client/resolve.ts';
import { decide } from '../../client/send.ts';
import { oneLine } from '../../ui/text.ts';
import { withService, type Context, type Handler, type Options } from '../context.ts';
import { settingsFor } from '../settings.ts';

/** `holdfast approve ID [CALL_ID]`. */
export const approve: Handler = async (context, args, options) => settle(context, args, options, 'approve');

/** `holdfast deny ID [CALL_ID] --reason TEXT`. */
export const deny: Handler = async (context, args, options) => settle(context, args, options, 'deny');

async function settle(
  context: Context,
  [id = '', call_id]: string[],
  options: Options,
  decision: 'approve' | 'deny',
): Promise<number> {
  const { screen } = context;
  const by = (await settingsFor(context, options)).user.value;
  const reason = (options['reason'] as string | undefined) ?? '';
  await withService(
    context,
    async (service) => {
      const session_id = await resolveId(service, id);
      const known = await facts(service, session_id);
      const calls = pendingCalls(known, call_id);
      // By its id each: a call that asks in this moment is not what was looked at.
      const ids = calls.length === 0 ? [call_id ?? null] : calls.map((call) => call.call_id);
      for (const one of ids) await decide(service, session_id, { call_id: one, decision, by, reason });
      const words = decision === 'approve' ? 'approved' : 'denied';
      if (options['json'] === true) screen.json({ session_id, decision, call_ids: ids });
      else for (const { tool, target } of calls) screen.note(`${words}: ${tool} ${oneLine(target)}`);
    },
    { worker: false },
  );
  return 0;
}

/** Empty when nobody could be asked: then the decision is sent as it was given. */
function pendingCalls(known: KnownFacts, call_id: string | undefined): KnownFacts['pending_approvals'] {
  if (known.partial) return [];
  const calls = known.pending_approvals.filter((call) => call_id === undefined || call.call_id === call_id);
  if (calls.length > 0) return calls;
  const ids = known.pending_approvals.map((call) => call.call_id);
  throw new HoldfastError(
    'approval.none',
    `Expected ${call_id === undefined ? 'a call that waits for approval' : `call ${call_id} to wait for approval`} in session ${known.session_id}, found ${ids.length === 0 ? 'none' : ids.join(', ')}.`,
    `See \`holdfast show ${known.session_id}\`.`,
  );
}
