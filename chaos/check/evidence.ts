/** All that is known of one session when it is over: what was said, the log, the model's own log, the world. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readEvents } from '../../src/client/index.ts';
import type { EventOf, EventType, SessionEvent } from '../../src/domain/event.ts';
import type { Hit } from '../kill/blow.ts';
import { tokensIn, type PlannedCall } from '../load/calls.ts';
import type { Arrival } from '../load/effectServer.ts';
import type { Observed } from '../load/observations.ts';
import type { Told } from '../load/talker.ts';
import { stepsFor } from '../load/tasks.ts';
import { effectsLogOf, type Stage } from '../stage.ts';

const run = promisify(execFile);

/** What stands in the world; every list has a token as often as it is there. */
export interface World {
  started: string[];
  done: string[];
  /** Commands that killed their own runner. */
  killed: string[];
  /** By path, relative to the workspace. */
  files: Map<string, string[]>;
  /** In messages of commits. */
  committed: string[];
  arrivals: Arrival[];
}

export interface Evidence {
  told: Told;
  events: SessionEvent[];
  observed: Observed;
  world: World;
  /** Calls of the messages that were sent, in order. */
  calls: PlannedCall[];
  hits: Hit[];
  /** Where the world of this session is. */
  places: string;
}

export async function gather(stage: Stage, told: Told, hits: Hit[]): Promise<Evidence> {
  const { session, session_id } = told;
  const events: SessionEvent[] = [];
  for await (const event of readEvents(stage.service, session_id)) events.push(event);
  const log = (await readFile(effectsLogOf(stage.folder, session), 'utf8')).split('\n');
  const lines = (word: string): string[] =>
    log.filter((line) => line.startsWith(`${word} `)).flatMap((line) => tokensIn(line));
  const workspace = stage.workspaceOf(session);
  return {
    told,
    events,
    observed: stage.observations.of(session),
    world: {
      started: lines('start'),
      done: lines('done'),
      killed: lines('killed'),
      files: await tokensOfFiles(workspace),
      committed: tokensIn((await run('git', ['-C', workspace, 'log', '--all', '--format=%B'])).stdout),
      arrivals: stage.arrivals.filter(({ token }) => token.startsWith(`tok-${session}-`)),
    },
    calls: told.sent.flatMap(({ number }) =>
      stepsFor(stage.seed, stage.surroundings(session, number)).flat(),
    ),
    hits,
    places: `${workspace} ${effectsLogOf(stage.folder, session)}`,
  };
}

/** All events of one type. */
export function all<T extends EventType>(events: SessionEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** How often a token is in a list. */
export function times(list: readonly string[], token: string): number {
  return list.filter((other) => other === token).length;
}

/** The last text that the model was sent as a call's result; without any, what the log has. */
export function claimOf({ observed, events }: Evidence, call: PlannedCall): string | undefined {
  const result = all(events, 'tool_result').find(({ call_id }) => call_id === call.call_id);
  return observed.claims.get(call.call_id)?.at(-1) ?? result?.output;
}

/** The events of a call. */
export function eventsOf({ events }: Evidence, { call_id }: PlannedCall): SessionEvent[] {
  return events.filter((event) => 'call_id' in event && event.call_id === call_id);
}

async function tokensOfFiles(workspace: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const entry of await readdir(workspace, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(workspace.length + 1);
    if (!entry.isFile() || path.startsWith('.git/')) continue;
    found.set(path, tokensIn(await readFile(join(workspace, path), 'utf8')));
  }
  return found;
}
