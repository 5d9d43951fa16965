import { HoldfastError } from '../../client/errors.ts';
import { facts } from '../../client/facts.ts';
import { resolveId } from '../../client/resolve.ts';
import { resolveOperation } from '../../client/send.ts';
import { oneLine } from '../../ui/text.ts';
import { withService, type Handler } from '../context.ts';

/** `holdfast resolve ID CALL_ID --as done|not-done --note TEXT`: a person settles an uncertain operation. */
export const resolve: Handler = async (context, [id = '', call_id = ''], options) => {
  const as = options['as'] as 'done' | 'not-done';
  const note = options['note'] as string;
  await withService(context, async (service) => {
    const session_id = await resolveId(service, id);
    const { uncertain } = await facts(service, session_id);
    const operation = uncertain.find((candidate) => candidate.call_id === call_id);
    if (operation === undefined) {
      const found = uncertain.map((candidate) => candidate.call_id).join(', ') || 'none';
      throw new HoldfastError(
        'operation.not_uncertain',
        `Expected call ${call_id} to be uncertain in session ${session_id}, found these uncertain calls: ${found}.`,
        `See \`holdfast show ${session_id}\`.`,
      );
    }
    await resolveOperation(service, session_id, { call_id, as, note });
    if (options['json'] === true) context.screen.json({ session_id, call_id, as, note });
    else context.screen.note(`settled as ${as}: ${operation.tool} ${oneLine(operation.target)}`);
  });
  return 0;
};
