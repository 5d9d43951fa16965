import { HoldfastError } from '../../client/errors.ts';
import { facts, type KnownFacts } from '../../client/facts.ts';
import { readEvents } from '../../client/events.ts';
import { listSessions } from '../../client/list.ts';
import { resolveId } from '../../client/resolve.ts';
import { reopen } from '../../client/send.ts';
import type { Service } from '../../client/service.ts';
import { hostId } from '../../host/home.ts';
import { Progress } from '../../ui/progress.ts';
import { goalSummary } from '../../ui/goalLines.ts';
import { clip, printable } from '../../ui/text.ts';
import { changeByFlags, missingWorkspace, planExisting, refuseWorkspace } from '../begin.ts';
import { chatLoop } from '../chat/chat.ts';
import { withService, type Context, type Handler, type Options } from '../context.ts';
import { followHeadless } from '../headless.ts';
import { pickSession } from '../pick.ts';
import { promptOf } from '../prompt.ts';
import { keepKey, settingsFor } from '../settings.ts';
import { sayDetached } from './run.ts';

/** Events of the transcript: a page, however long the session is. */
const TRANSCRIPT_EVENTS = 100;

/** `holdfast resume [ID]`: transcript, then a prompt; without a terminal and with --prompt as `run --session`. */
export const resume: Handler = async (context, [id], options) => {
  refuseWorkspace(options, id ?? 'that is resumed');
  const prompt = options['prompt'] as string | undefined;
  const first = prompt === undefined ? undefined : await promptOf([prompt]);
  const by = (await settingsFor(context, options)).user.value;
  return withService(context, async (service) => {
    const session_id = await chooseSession(context, service, id, options);
    if (session_id === undefined) return 0;
    const headless =
      !context.screen.terminal.interactive || options['json'] === true || options['detach'] === true;
    return first !== undefined && headless
      ? sendHeadless(context, service, session_id, first, options, by)
      : attach(context, service, session_id, first, options, by);
  });
};

async function chooseSession(
  context: Context,
  service: Service,
  id: string | undefined,
  options: Options,
): Promise<string | undefined> {
  if (id !== undefined) return resolveId(service, id);
  const { user } = await settingsFor(context, options);
  const mine = await listSessions(service, { status: 'all', user_id: user.value });
  const recent = mine.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  const [last] = recent;
  if (last === undefined) {
    throw new HoldfastError(
      'session.none',
      'Expected a session to resume, found none.',
      'Begin one: `holdfast run PROMPT`.',
    );
  }
  return options['last'] === true ? last.session_id : pickSession(context, recent);
}

async function sendHeadless(
  context: Context,
  service: Service,
  session_id: string,
  text: string,
  options: Options,
  by: string,
): Promise<number> {
  const plan = await planExisting(context, options, session_id);
  const begun = await plan.begin(service, text);
  if (options['detach'] === true) return sayDetached(context, begun, options);
  context.screen.note(context.screen.styles.dim(`session ${session_id}`));
  return followHeadless(context, service, begun, options, by);
}

async function attach(
  context: Context,
  service: Service,
  session_id: string,
  first: string | undefined,
  options: Options,
  by: string,
): Promise<number> {
  const settings = await settingsFor(context, options);
  await keepKey(context, settings);
  await changeByFlags(service, session_id, settings, options);
  let known = await facts(service, session_id);
  // Before an archived session is opened again: the archive has it all, and nobody needs to wait for a worker.
  await showTranscript(context, service, known);
  if (known.status !== 'active') {
    await reopen(service, session_id);
    known = await facts(service, session_id);
  }
  await sayMissingWorkspace(context, known);
  return chatLoop(context, service, {
    session: { session_id, facts: known },
    begin: async () => {
      throw new Error('a session that exists begins with no message');
    },
    first,
    by,
  });
}

async function showTranscript(context: Context, service: Service, known: KnownFacts): Promise<void> {
  const { screen } = context;
  const { dim, bold } = screen.styles;
  const from = Math.max(1, known.last_seq - TRANSCRIPT_EVENTS + 1);
  screen.print(bold(printable(known.title)));
  screen.print(
    dim(
      `${known.session_id}, ${known.settings.model}, approval ${known.settings.approval}, ${known.workspace.path}`,
    ),
  );
  if (known.goal != null)
    screen.print(dim(clip(`goal: ${goalSummary(known.goal, Date.now())}`, screen.terminal.columns)));
  if (from > 1) screen.print(dim(`... earlier: holdfast events ${known.session_id}`));
  const progress = new Progress(screen, { chat: true });
  try {
    for await (const event of readEvents(service, known.session_id, from)) {
      if (event.seq > known.last_seq) break;
      if (event.type === 'user_message') screen.print(bold(`> ${printable(event.text)}`));
      progress.event(event);
    }
  } catch (error) {
    if (!isOfArchive(error)) throw error;
    // What can't be shown of the past is no reason not to go on.
    screen.print(screen.styles.bad(`! ${printable(error.message)}`));
  }
}

function isOfArchive(error: unknown): error is Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'archive.damaged' || code === 'archive.gap';
}

/** Only of a folder of this host can anything be said. */
async function sayMissingWorkspace(
  { home, screen }: Context,
  { session_id, workspace }: KnownFacts,
): Promise<void> {
  if (workspace.host !== (await hostId(home))) return;
  if ((await missingWorkspace(workspace.path)) === undefined) return;
  screen.print(screen.styles.bad(`! The workspace ${printable(workspace.path)} is gone.`));
  screen.print(`  Bind the session to another folder: holdfast rebind ${session_id} DIR`);
}
