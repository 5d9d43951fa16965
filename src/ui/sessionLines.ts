/** A list of sessions: a table where there is room, two lines for each where there is not. */
import type { ListedSession } from '../client/list.ts';
import type { Styles } from './style.ts';
import { clip, oneLine, pad } from './text.ts';
import { ago } from './time.ts';

const TABLE_MIN_COLUMNS = 70;
const ID_COLUMNS = 13;
const STATE_COLUMNS = 13;
const TIME_COLUMNS = 11;

/** One or two lines for each session, none longer than `columns`. */
export function sessionLines(
  sessions: ListedSession[],
  columns: number,
  styles: Styles,
  now: number = Date.now(),
): string[] {
  return sessions.flatMap((session) =>
    columns >= TABLE_MIN_COLUMNS
      ? [tableLine(session, columns, styles, now)]
      : narrowLines(session, columns, styles, now),
  );
}

const STATE_WORDS: Record<string, string> = { waiting_approval: 'needs you', host_unreachable: 'host gone' };

/** What a session does, in one word or two: what waits for a person first. */
function stateWords(session: Pick<ListedSession, 'status' | 'run_state' | 'uncertain'>): string {
  if (session.status !== 'active') return session.status;
  return STATE_WORDS[session.run_state] ?? session.run_state;
}

function tableLine(session: ListedSession, columns: number, styles: Styles, now: number): string {
  const room = columns - ID_COLUMNS - STATE_COLUMNS - TIME_COLUMNS;
  const titleRoom = Math.ceil(room * 0.6);
  const folder = oneLine(session.workspace);
  return [
    styles.bold(pad(session.session_id, ID_COLUMNS)),
    colored(session, pad(clip(stateWords(session), STATE_COLUMNS - 1), STATE_COLUMNS), styles),
    styles.dim(pad(ago(session.updated_at, now), TIME_COLUMNS)),
    pad(clip(oneLine(session.title), titleRoom - 1), titleRoom),
    styles.dim(clipStart(folder, room - titleRoom)),
  ]
    .join('')
    .trimEnd();
}

function narrowLines(session: ListedSession, columns: number, styles: Styles, now: number): string[] {
  const state = clip(` ${stateWords(session)} ${ago(session.updated_at, now)}`, columns - 12);
  return [
    styles.bold(session.session_id) + colored(session, state, styles),
    `  ${clip(oneLine(session.title), columns - 2)}`,
  ];
}

function colored(session: ListedSession, text: string, styles: Styles): string {
  const style: Record<string, (text: string) => string> = {
    running: styles.good,
    'needs you': styles.warn,
    'host gone': styles.warn,
    interrupted: styles.warn,
    failed: styles.bad,
  };
  return (style[stateWords(session)] ?? styles.dim)(text);
}

/** The end of a path says more than its beginning. */
function clipStart(text: string, columns: number): string {
  const points = Array.from(text);
  return points.length <= columns ? text : `…${points.slice(points.length - columns + 1).join('')}`;
}
