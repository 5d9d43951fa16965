/** One line about an event, for a person who follows; undefined where there is nothing to say. */
import type { EventOf, SessionEvent } from '../domain/event.ts';
import { HOLDFAST, MODEL } from '../domain/goal.ts';
import { clip, count, oneLine, plural } from './text.ts';
import type { Styles } from './style.ts';
import { duration } from './time.ts';

export interface LineOptions {
  columns: number;
  styles: Styles;
  /** What is known of the call that a result belongs to. */
  call: (call_id: string) => KnownCall | undefined;
}

export interface KnownCall {
  tool: string;
  target: string;
  at: string;
  /** Its own line is the last that was written, so that the result need not name it again. */
  justNamed: boolean;
}

/** The line, with colours as `styles` says. */
export function eventLine(event: SessionEvent, options: LineOptions): string | undefined {
  const make = LINES[event.type] as
    | ((event: SessionEvent, options: LineOptions) => string | undefined)
    | undefined;
  return make?.(event, options);
}

type Lines = {
  [T in SessionEvent['type']]?: (event: EventOf<T>, options: LineOptions) => string | undefined;
};

const LINES: Lines = {
  project_loaded: projectLine,
  tool_call: (event, { columns, styles }) =>
    event.problem === undefined
      ? styles.name(clip(`* ${event.tool} ${oneLine(event.target)}`, columns))
      : styles.warn(clip(`* ${event.tool}: ${oneLine(event.problem)}`, columns)),
  tool_result: resultLine,
  tool_recovery: recoveryLine,
  approval_requested: (event, options) =>
    options.styles.warn(clip(`? waits for approval: ${nameOf(event.call_id, options)}`, options.columns)),
  approval_decided: (event, { columns, styles }) => {
    const reason = event.reason === '' ? '' : `: ${oneLine(event.reason)}`;
    const words = event.decision === 'approve' ? 'approved' : 'denied';
    return styles.dim(clip(`  ${words} by ${oneLine(event.by)}${reason}`, columns));
  },
  interrupt_requested: (event, { styles }) => styles.warn(`! interrupted by ${oneLine(event.by)}`),
  compaction_requested: (event, { columns, styles }) =>
    styles.dim(clip(`- a summary was asked for by ${oneLine(event.by)}`, columns)),
  context_full: (event, { columns, styles }) => {
    const size = event.tokens === null ? 'more than the model takes' : `${count(event.tokens)} tokens`;
    return styles.dim(
      clip(`- the context has grown to ${size} (window ${count(event.window)}): summarising`, columns),
    );
  },
  summary_created: (event, { columns, styles }) => {
    const { through_seq, tokens_before, tokens_after } = event;
    const sizes = `${count(tokens_before)} -> ${count(tokens_after)} tokens`;
    return styles.dim(clip(`- events up to ${through_seq} are summarised, ${sizes}`, columns));
  },
  compaction_failed: (event, { columns, styles }) =>
    styles.warn(clip(`! no summary: ${oneLine(event.error.message)}`, columns)),
  run_finished: (event, { styles }) =>
    event.status === 'interrupted' ? styles.warn('! the run was interrupted') : undefined,
  workspace_missing: (event, { columns, styles }) =>
    styles.bad(clip(`! the workspace is gone: ${oneLine(event.workspace.path)}`, columns)),
  host_unreachable: (event, { columns, styles }) =>
    styles.warn(clip(`~ no worker of host ${event.host} answers; the session waits for it`, columns)),
  workspace_rebound: (event, { columns, styles }) =>
    styles.dim(clip(`- bound to ${oneLine(event.workspace.path)} on ${event.workspace.host}`, columns)),
  session_renamed: (event, { columns, styles }) =>
    styles.dim(clip(`- renamed: ${oneLine(event.title)}`, columns)),
  settings_changed: (event, { columns, styles }) => {
    const { model, approval, on_interrupt, base_url } = event.settings;
    const service = base_url === null ? '' : ` of ${oneLine(base_url)}`;
    return styles.dim(
      clip(
        `- settings: ${oneLine(model)}${service}, approval ${approval}, on interrupt ${on_interrupt}`,
        columns,
      ),
    );
  },
  run_started: (event, { columns, styles }) =>
    event.trigger === 'goal' ? styles.dim(clip('- goes on with the goal', columns)) : undefined,
  goal_set: (event, { columns, styles }) => {
    const budget = event.budget === null ? '' : ` (budget ${count(event.budget)} tokens)`;
    return styles.name(clip(`- goal${budget}: ${oneLine(event.objective)}`, columns));
  },
  goal_changed: goalLine,
  goal_cleared: (_event, { styles }) => styles.dim('- goal cleared'),
  session_completed: (_event, { styles }) => styles.dim('- completed'),
  session_archived: (_event, { styles }) => styles.dim('- archived'),
  session_reopened: (_event, { styles }) => styles.dim('- reopened'),
};

/** What can't be used comes first: there is something to mend. It is said again only when something changed. */
function projectLine(
  { project, changes = [] }: EventOf<'project_loaded'>,
  options: LineOptions,
): string | undefined {
  const problems = project.unchanged === true ? [] : (project.problems ?? []);
  const parts = [
    ...problems.map(({ path, problem }) => `${path} is not used: ${problem}`),
    ...changes.map(({ path, change }) => `${path} ${change}`),
  ];
  if (parts.length === 0) return undefined;
  const line = clip(`- project: ${oneLine(parts.join(', '))}`, options.columns);
  return problems.length > 0 ? options.styles.warn(line) : options.styles.dim(line);
}

/** What its model says stands in the line of the call. */
function goalLine(event: EventOf<'goal_changed'>, { columns, styles }: LineOptions): string | undefined {
  if (event.by === MODEL) return undefined;
  const words = [
    ...(event.status === undefined ? [] : [event.status.replace('_', ' ')]),
    ...(event.budget === undefined ? [] : [`budget ${event.budget === null ? 'none' : count(event.budget)}`]),
    ...(event.note === undefined || event.note === '' ? [] : [oneLine(event.note)]),
  ];
  const line = clip(`- goal: ${words.join(', ')}`, columns);
  return event.by === HOLDFAST ? styles.warn(line) : styles.dim(line);
}

function resultLine(event: EventOf<'tool_result'>, options: LineOptions): string {
  const call = options.call(event.call_id);
  // What came of it must not be cut off by what it was.
  const name =
    call === undefined || call.justNamed
      ? ''
      : `${clip(nameOf(event.call_id, options), Math.floor(options.columns / 2))}: `;
  const words = [
    statusWords(event),
    ...(call === undefined ? [] : tookLong(call.at, event.at)),
    ...(event.recovered ? ['recovered'] : []),
    ...(event.status === 'success' ? sizeOf(event) : [lastLine(event.output)]),
  ].filter((word) => word !== '');
  const line = clip(`  ${name}${words.join(', ')}`, options.columns);
  const failed = event.status === 'failed';
  return failed ? options.styles.bad(line) : options.styles.dim(line);
}

function statusWords({ status, exit_code }: EventOf<'tool_result'>): string {
  if (exit_code !== undefined && exit_code !== 0) return `exit ${exit_code}`;
  return status === 'success' ? 'ok' : status;
}

/** Only what a person would notice. */
function tookLong(from: string, to: string): string[] {
  const ms = Date.parse(to) - Date.parse(from);
  return ms >= 2_000 ? [duration(ms)] : [];
}

function sizeOf({ output }: EventOf<'tool_result'>): string[] {
  const lines = output.split('\n').filter((line) => line.trim() !== '').length;
  return lines === 0 ? [] : [plural(lines, 'line')];
}

function lastLine(output: string): string {
  return oneLine(
    output
      .split('\n')
      .filter((line) => line.trim() !== '')
      .at(-1) ?? '',
  );
}

const RECOVERY_WORDS: Record<EventOf<'tool_recovery'>['status'], string> = {
  uncertain: 'lost its worker; its outcome is being looked up',
  running: 'still runs; waiting for it',
  completed: 'had completed; its real result is used',
  not_run: 'had not run; it is run now',
  unknown: 'its outcome is not known; the model is told the evidence',
};

function recoveryLine(event: EventOf<'tool_recovery'>, options: LineOptions): string {
  const words = RECOVERY_WORDS[event.status];
  // What it is comes last: the name of a long command may be cut, the outcome must not.
  return options.styles.warn(
    clip(`~ recovery: ${words}: ${nameOf(event.call_id, options)}`, options.columns),
  );
}

function nameOf(call_id: string, options: LineOptions): string {
  const call = options.call(call_id);
  return call === undefined ? call_id : `${call.tool} ${oneLine(call.target)}`;
}
