import { spawn } from 'node:child_process';
import { workflowId } from '../../domain/ids.ts';
import { EXIT, HoldfastError } from '../../client/errors.ts';
import { resolveId } from '../../client/resolve.ts';
import type { Service } from '../../client/service.ts';
import { withService, type Handler } from '../context.ts';

/** `holdfast web [ID]`: prints the address, and opens it for a person at a terminal. */
export const web: Handler = async ({ ...context }, [id], options) => {
  const { screen } = context;
  const url = await withService(context, async (service) => addressOf(service, id), { worker: false });
  if (options['json'] === true) screen.json({ url });
  else screen.print(url);
  if (screen.terminal.interactive && options['json'] !== true) openInBrowser(url);
  return EXIT.done;
};

async function addressOf(service: Service, id: string | undefined): Promise<string> {
  const { ui_url, namespace } = service.endpoint;
  if (ui_url === null) {
    throw new HoldfastError(
      'web.unknown',
      'Expected the address of the Temporal Web UI, found none: the service was given by its environment.',
      'Set TEMPORAL_UI_URL, for example http://localhost:8080.',
    );
  }
  const list = `${ui_url.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
  if (id === undefined) return list;
  return `${list}/${encodeURIComponent(workflowId(await resolveId(service, id)))}`;
}

/** Best effort: the address is printed in any case. */
function openInBrowser(url: string): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
