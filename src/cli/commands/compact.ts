import { compactNow } from '../../client/compact.ts';
import { EXIT, HoldfastError } from '../../client/errors.ts';
import { resolveId } from '../../client/resolve.ts';
import { NOTHING_TO_SUMMARISE } from '../../domain/compaction.ts';
import { count } from '../../ui/text.ts';
import { withService, type Handler } from '../context.ts';
import { keepKey, settingsFor } from '../settings.ts';

/** `holdfast compact ID`: summarises now, or after the step under way. */
export const compact: Handler = async (context, [id = ''], options) => {
  const { screen } = context;
  const settings = await settingsFor(context, options);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  return withService(context, async (service) => {
    const session_id = await resolveId(service, id);
    await keepKey(context, settings);
    const end = await compactNow(service, session_id, settings.user.value, {
      signal: stop.signal,
      onConnection: ({ part, reachable }) =>
        screen.note(screen.styles.dim(`~ ${part} ${reachable ? 'is back' : 'lost, waiting for it'}`)),
    });
    if (end === undefined) return EXIT.detached;
    if (end.type === 'compaction_failed' && end.error.code !== NOTHING_TO_SUMMARISE) {
      const { code, message, remedy } = end.error;
      throw new HoldfastError(code, message, remedy, EXIT.runFailed);
    }
    const made = end.type === 'summary_created' ? end : null;
    if (options['json'] === true) {
      screen.json({ session_id, summary: made });
    } else if (made === null) {
      screen.note(`${session_id}: there is nothing to summarise yet`);
    } else {
      const { through_seq, tokens_before, tokens_after } = made;
      screen.note(
        `${session_id}: events up to ${through_seq} are summarised, ${count(tokens_before)} -> ${count(tokens_after)} tokens`,
      );
    }
    return EXIT.done;
  });
};
