/**
 * The worker's live stream of one session: token deltas, and events as wake-ups, as server-sent events over
 * a unix socket. It is decoration: it may be absent, end at any time and lose what nobody was there to hear.
 */
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { pauseAfter } from './retry.ts';

/** A piece of a reply that is being written. */
export interface Delta {
  operation_id: string;
  kind: 'text' | 'reasoning' | 'tool_arguments';
  text: string;
}

export interface LiveWatch {
  onDelta: (delta: Delta) => void;
  /** Something was recorded, or will be in a moment. */
  onEvent: () => void;
  /** The worker of this host went away (false) and came back (true); not told before it was there once. */
  onWorker: (alive: boolean) => void;
  signal: AbortSignal;
}

/** A connection is tried again this often at least: a new worker listens within a second or two. */
const MAX_TRIES = 4;

/** Listens, and reconnects for ever. Resolves when aborted; never rejects. */
export async function watchLive(socketPath: string, session_id: string, watch: LiveWatch): Promise<void> {
  let wasThere = false;
  for (let tries = 1; !watch.signal.aborted; tries++) {
    const connected = await listen(socketPath, session_id, watch, () => {
      if (wasThere) watch.onWorker(true);
      wasThere = true;
      // What was recorded while nobody listened is asked for now.
      watch.onEvent();
    });
    if (watch.signal.aborted) return;
    if (connected) {
      tries = 0;
      watch.onWorker(false);
    }
    await delay(pauseAfter(Math.min(tries + 1, MAX_TRIES)), undefined, { signal: watch.signal }).catch(
      () => {},
    );
  }
}

/** Resolves when the stream has ended, with whether it had begun. */
async function listen(
  socketPath: string,
  session_id: string,
  watch: LiveWatch,
  onOpen: () => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    let open = false;
    const end = (): void => resolve(open);
    const call = request({
      socketPath,
      path: `/sessions/${session_id}/live`,
      headers: { accept: 'text/event-stream' },
      signal: watch.signal,
    });
    call.on('response', (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        end();
        return;
      }
      open = true;
      onOpen();
      response.setEncoding('utf8');
      const parse = eventParser((name, data) => dispatch(name, data, watch));
      response.on('data', parse);
      response.on('error', end);
      response.on('close', end);
    });
    call.on('error', end);
    call.on('close', end);
    call.end();
  });
}

function dispatch(name: string, data: string, watch: LiveWatch): void {
  if (name === 'event') watch.onEvent();
  if (name !== 'delta') return;
  try {
    watch.onDelta(JSON.parse(data) as Delta);
  } catch {
    // A torn line of a worker that was killed is not worth an error.
  }
}

/** Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), data of one line or more. */
export function eventParser(onEvent: (name: string, data: string) => void): (chunk: string) => void {
  let rest = '';
  let name = 'message';
  let data: string[] = [];
  const line = (text: string): void => {
    if (text === '') {
      if (data.length > 0) onEvent(name, data.join('\n'));
      name = 'message';
      data = [];
    } else if (text.startsWith('event:')) name = text.slice(6).trim();
    else if (text.startsWith('data:')) data.push(text.slice(5).replace(/^ /, ''));
  };
  return (chunk) => {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const text of lines) line(text);
  };
}
