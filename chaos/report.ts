/** The table: what was killed, what the sessions did, how fast they came back, and the verdicts. */
import { all, eventsOf, type Evidence } from './check/evidence.ts';
import { readClaim } from './check/claim.ts';
import { VERDICTS, type Violation } from './check/verdict.ts';
import type { Killed } from './kill/killer.ts';
import type { Hit } from './kill/blow.ts';

export interface Findings {
  seed: string;
  seconds: number;
  killed: Killed;
  sessions: Evidence[];
  violations: Violation[];
}

export function formatReport(findings: Findings): string {
  const rows = [
    ...killRows(findings),
    ...workRows(findings),
    ...callRows(findings.sessions),
    ...recoveryRows(findings),
    ...VERDICTS.map((verdict) => [
      verdict,
      String(findings.violations.filter((one) => one.verdict === verdict).length),
    ]),
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  const table = rows.map(([name = '', value = '']) => `${name.padEnd(width)}  ${value}`.trimEnd());
  return [
    `Chaos run, seed ${findings.seed}: the same seed gives the same workload and the same planned kills; how they fall together differs from run to run.`,
    '',
    ...table,
    ...findings.violations.map(
      ({ verdict, session_id, what, details }) =>
        `\n! ${verdict}: session ${session_id}: ${what}\n      ${details}`,
    ),
  ].join('\n');
}

function killRows({ killed, sessions }: Findings): string[][] {
  const kills = killed.hits.filter(({ how }) => how === 'kill');
  const freezes = killed.hits.filter(({ how }) => how === 'freeze');
  const lastActs = sessions.flatMap(({ world }) => world.killed).length;
  return [
    ['kills (SIGKILL to a living process)', String(kills.length + lastActs)],
    ...counted(kills),
    ['  runner, at before_exit_record (by its own command)', String(lastActs)],
    ['freezes (SIGSTOP, then SIGCONT)', String(freezes.length)],
    ...counted(freezes),
    ['strikes that found nobody', String(killed.missed.length)],
    ['', ''],
  ];
}

function counted(hits: Hit[]): string[][] {
  const names = hits.map(({ target, point }) =>
    point === undefined ? `  ${target}, at random` : `  ${target}, at ${point}`,
  );
  return [...new Set(names)]
    .toSorted()
    .map((name) => [name, String(names.filter((other) => other === name).length)]);
}

function workRows({ sessions, seconds }: Findings): string[][] {
  const events = sessions.flatMap((session) => session.events);
  const ends = all(events, 'run_finished');
  const of = (status: string): number => ends.filter((end) => end.status === status).length;
  return [
    ['sessions', `${sessions.length} in ${Math.round(seconds)} s`],
    ['messages', String(all(events, 'user_message').length)],
    [
      'runs',
      `${ends.length}: ${of('success')} success, ${of('interrupted')} interrupted, ${of('failed')} failed (crash loop)`,
    ],
    ['events', String(events.length)],
    ['model requests', String(sessions.flatMap(({ observed }) => observed.requests).length)],
    ['model replies', String(all(events, 'assistant_message').length)],
    ['', ''],
  ];
}

const OUTCOMES = [
  'direct',
  'recovered: completed',
  'recovered: attached',
  'not run, then run',
  'unknown',
  'not run',
] as const;

function callRows(sessions: Evidence[]): string[][] {
  const outcomes = sessions.flatMap((session) =>
    session.calls.map((call) => outcomeOf(session, call)).filter((outcome) => outcome !== undefined),
  );
  return [
    ['calls', String(outcomes.length)],
    ...OUTCOMES.map((outcome) => [
      `  ${outcome}`,
      String(outcomes.filter((other) => other === outcome).length),
    ]),
    ['', ''],
  ];
}

function outcomeOf(
  session: Evidence,
  call: Evidence['calls'][number],
): (typeof OUTCOMES)[number] | undefined {
  const claim = readClaim(session, call);
  if (claim === undefined) return undefined;
  if (claim.says === 'unknown') return 'unknown';
  if (claim.says === 'not run') return 'not run';
  const recoveries = eventsOf(session, call).flatMap((event) =>
    event.type === 'tool_recovery' ? [event.status] : [],
  );
  if (recoveries.includes('not_run')) return 'not run, then run';
  if (recoveries.includes('running')) return 'recovered: attached';
  return recoveries.includes('completed') ? 'recovered: completed' : 'direct';
}

/** From a kill to the next event of any session; of a runner, to the first word about its own call. */
function recoveryRows({ killed, sessions }: Findings): string[][] {
  const times = sessions.flatMap(({ events }) => events.map(({ at }) => at)).toSorted();
  const kills = killed.hits.filter(({ how }) => how === 'kill');
  const targets = [...new Set(kills.map(({ target }) => target))].toSorted();
  return [
    ['from a kill to the next event', 'median, p95, max (ms)'],
    ...targets.map((target) => [
      `  ${target}`,
      spread(kills.filter((hit) => hit.target === target).map((hit) => recoveryMs(hit, sessions, times))),
    ]),
    ['', ''],
  ];
}

function recoveryMs(hit: Hit, sessions: Evidence[], times: string[]): number | undefined {
  const next =
    hit.operation_id === undefined
      ? times.find((at) => at > hit.at)
      : sessions
          .flatMap(({ events }) => events)
          .find(
            (event) =>
              'operation_id' in event && event.operation_id === hit.operation_id && event.at > hit.at,
          )?.at;
  return next === undefined ? undefined : Date.parse(next) - Date.parse(hit.at);
}

function spread(samples: (number | undefined)[]): string {
  const sorted = samples.filter((sample) => sample !== undefined).toSorted((a, b) => a - b);
  const at = (share: number): string =>
    String(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
  return sorted.length === 0 ? 'none' : `${at(0.5)}, ${at(0.95)}, ${at(1)}  n=${sorted.length}`;
}
