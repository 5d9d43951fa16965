/** A message on its way: into a new session, or into one that exists. */
import { createSession, type Sent } from '../client/create.ts';
import { facts } from '../client/facts.ts';
import { resolveId } from '../client/resolve.ts';
import { configure, rename, reopen, sendMessage } from '../client/send.ts';
import type { Service } from '../client/service.ts';
import { HoldfastError, workspaceNotFound } from '../client/errors.ts';
import { hostId } from '../host/home.ts';
import type { ApprovalName, Settings } from '../host/settings.ts';
import type { Context, Options } from './context.ts';
import { changesByFlags, keepKey, sessionSettings, settingsFor } from './settings.ts';
import { workspaceAt } from './workspace.ts';

/** A message and the first seq where it can be. */
export interface Begun extends Sent {
  from: number;
}

/** What has to be right before anything is started or created. */
export interface Plan {
  begin: (service: Service, text: string) => Promise<Begun>;
}

/** A new session in the folder of the options; `approval` where nobody says otherwise. */
export async function planNew(context: Context, options: Options, approval: ApprovalName): Promise<Plan> {
  const path = await workspaceAt(options['workspace'] as string | undefined);
  const settings = await settingsFor(context, options, path);
  return {
    begin: async (service, text) => {
      await keepKey(context, settings);
      const workspace = { host: await hostId(context.home), path };
      const sent = await createSession(service, {
        user_id: settings.user.value,
        workspace,
        settings: sessionSettings(settings, approval),
        text,
        title: options['title'] as string | undefined,
        message_id: options['messageId'] as string | undefined,
      });
      return { ...sent, from: 1 };
    },
  };
}

/** The session that the options name: it keeps its own settings but for what flags change. */
export async function planExisting(context: Context, options: Options, id: string): Promise<Plan> {
  refuseWorkspace(options, id);
  const settings = await settingsFor(context, options);
  return {
    begin: async (service, text) => {
      const session_id = await resolveId(service, id);
      await keepKey(context, settings);
      await changeByFlags(service, session_id, settings, options);
      const known = await facts(service, session_id);
      const message_id = await sendMessage(service, session_id, {
        text,
        message_id: options['messageId'] as string | undefined,
      });
      return { session_id, message_id, from: known.last_seq + 1 };
    },
  };
}

/** Applies what flags say (`--model`, `--base-url`, `--approval` and so on, `--title`) to a session. */
export async function changeByFlags(
  service: Service,
  session_id: string,
  settings: Settings,
  options: Options,
): Promise<void> {
  const changes = changesByFlags(settings);
  const title = options['title'] as string | undefined;
  if (changes === undefined && title === undefined) return;
  await reopen(service, session_id);
  if (changes !== undefined) await configure(service, session_id, changes);
  if (title !== undefined) await rename(service, session_id, title);
}

/** A session's folder is its own: another one is an explicit step, not a flag in passing. */
export function refuseWorkspace(options: Options, id: string): void {
  const given = options['workspace'] as string | undefined;
  if (given === undefined) return;
  throw new HoldfastError(
    'usage',
    `Expected no --workspace for session ${id}, which keeps its own, found ${given}.`,
    `Bind it to another folder with \`holdfast rebind ${id} DIR\`.`,
  );
}

/** Whether the folder of a session of this host is there. */
export async function missingWorkspace(path: string): Promise<HoldfastError | undefined> {
  try {
    await workspaceAt(path);
    return undefined;
  } catch (error) {
    return error instanceof HoldfastError ? error : workspaceNotFound(path, 'no access');
  }
}
