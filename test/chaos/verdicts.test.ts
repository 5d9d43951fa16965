/** The verdicts themselves: a world that contradicts the log must be found out. */
import { expect, test } from 'vitest';
import { check } from '../../chaos/check/check.ts';
import type { Evidence } from '../../chaos/check/evidence.ts';
import { CallMaker } from '../../chaos/load/calls.ts';
import { messageId } from '../../chaos/load/talk.ts';
import type { EventBody, SessionEvent } from '../../src/domain/event.ts';
import { NO_USAGE } from '../../src/domain/model.ts';

const SESSION = 7;
const make = new CallMaker({ session: SESSION, message: 0, effectsLog: '/e', effectsUrl: 'http://h' });
const command = make.bash(1, 0, 1);
const write = make.write('a.txt');
const RUN = 's.r1';

test('a true story has no violation', () => {
  expect(check(story({}))).toEqual([]);
});

test.for<[string, (evidence: Evidence) => void, string]>([
  ['a command that ran twice', ({ world }) => world.started.push(command.token), 'effects doubled'],
  ['a success whose command never ended', ({ world }) => world.done.splice(0), 'false claims'],
  ['a success without the file', ({ world }) => world.files.clear(), 'false claims'],
  ['a message that is not in the log', ({ told }) => told.sent.push(sent(1)), 'messages lost'],
  ['a session that is not idle', ({ told }) => (told.idle = false), 'runs that did not end'],
  ['a gap in the log', ({ events }) => events.splice(2, 1), 'log broken'],
  ['an orphan call', ({ observed }) => observed.invalid.push('no result'), 'log broken'],
  [
    'another story than before',
    ({ observed }) => observed.claims.set(write.call_id, ['Created a.txt', 'UNKNOWN']),
    'log broken',
  ],
  ['a reply paid twice', ({ observed }) => observed.paidTwice.push('again'), 'model calls paid twice'],
])('%s is found', ([, forge, verdict]) => {
  const evidence = story({});
  forge(evidence);
  expect(check(evidence).map((violation) => violation.verdict)).toContain(verdict);
});

test('unknown is true only where the runner was killed, and not run only where nothing was', () => {
  const unknown = story({ result: undefined, claim: 'UNKNOWN: begun' });
  expect(check(unknown).map(({ verdict }) => verdict)).toEqual(['false claims']);
  unknown.hits.push({
    number: 1,
    target: 'runner',
    how: 'kill',
    point: undefined,
    at: '',
    pids: [1],
    operation_id: 's.r1.s1.1',
  });
  expect(check(unknown)).toEqual([]);
  const not_run = story({ result: undefined, claim: 'Not run. Nobody began it.' });
  expect(check(not_run).map(({ verdict }) => verdict)).toEqual(['false claims']);
});

interface Told {
  /** Of the command; undefined: none is in the log. */
  result?: string | undefined;
  /** What the model was sent of it. */
  claim?: string;
}

/** One run of one message with a command and a write, all of it well. */
function story(change: Told): Evidence {
  const output = `[exit code 0, ran 1.00 s]\n\nbegun ${command.token}\nended ${command.token}\n`;
  const result = 'result' in change ? change.result : output;
  return {
    told: { session: SESSION, session_id: 's', sent: [sent(0)], interrupts: [], idle: true },
    events: eventsOf(result),
    observed: {
      requests: [],
      claims: new Map([
        [command.call_id, [change.claim ?? output]],
        [write.call_id, ['Created a.txt']],
      ]),
      blocks: [],
      invalid: [],
      paidTwice: [],
    },
    world: {
      started: [command.token],
      done: [command.token],
      killed: [],
      files: new Map([['a.txt', [write.token]]]),
      committed: [],
      arrivals: [],
    },
    calls: [command, write],
    hits: [],
    places: '/nowhere',
  };
}

function eventsOf(result: string | undefined): SessionEvent[] {
  const call = (index: number, { call_id, tool }: typeof command): EventBody => ({
    type: 'tool_call',
    call_id,
    operation_id: `s.r1.s1.${index}`,
    tool,
    args: {},
    effect: 'side_effect',
    target: '',
  });
  const ended = (index: number, { call_id }: typeof command, output: string): EventBody => ({
    type: 'tool_result',
    call_id,
    operation_id: `s.r1.s1.${index}`,
    status: 'success',
    output,
    ...(index === 1 ? { exit_code: 0 } : {}),
  });
  const bodies: EventBody[] = [
    { type: 'user_message', message_id: messageId(SESSION, 0), text: '', delivery: 'queue' },
    { type: 'run_started', trigger: 'message', message_ids: [messageId(SESSION, 0)] },
    call(1, command),
    call(2, write),
    ...(result === undefined ? [] : [ended(1, command, result)]),
    ended(2, write, 'Created a.txt'),
    {
      type: 'assistant_message',
      operation_id: 's.r1.s2.0',
      text: 'answered: 0',
      reasoning: null,
      tool_calls: [],
      finish_reason: 'stop',
      usage: null,
      context_digest: '',
    },
    { type: 'run_finished', status: 'success', error: null, usage: NO_USAGE },
  ];
  return bodies.map((body, index) => ({
    seq: index + 1,
    at: '2026-01-01T00:00:00.000Z',
    run_id: RUN,
    ...body,
  }));
}

function sent(number: number): Evidence['told']['sent'][number] {
  return { number, delivery: 'queue', at: '2026-01-01T00:00:00.000Z' };
}
