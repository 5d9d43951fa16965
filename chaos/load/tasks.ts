/** Which calls the model makes for each message: drawn from the seed, the session and the message alone. */
import { TOOLS } from '../../src/activities/tools/registry.ts';
import { Random } from '../random.ts';
import { CallMaker, type CallSurroundings, type PlannedCall } from './calls.ts';

/** The calls of one reply. */
export type Step = PlannedCall[];

const KINDS = [
  { weight: 4, value: commands },
  { weight: 3, value: files },
  { weight: 2, value: mixed },
  { weight: 2, value: jobs },
  { weight: 2, value: commits },
  { weight: 2, value: requests },
  { weight: 1, value: lastAct },
] as const;

/** What the model does about a message, reply by reply. */
export function stepsFor(seed: string, around: CallSurroundings): Step[] {
  const random = new Random(seed, 'task', around.session, around.message);
  const steps = random.weighted(KINDS)(random, new CallMaker(around), `m${around.message}`);
  return steps.map((step) => step.filter(({ tool }) => TOOLS.has(tool))).filter((step) => step.length > 0);
}

function commands(random: Random, make: CallMaker): Step[] {
  return Array.from({ length: random.int(2, 4) }, () =>
    Array.from({ length: random.int(1, 2) }, () => bash(random, make)),
  );
}

function files(random: Random, make: CallMaker, folder: string): Step[] {
  const [a, b, old] = [`${folder}/a.txt`, `${folder}/b.txt`, `${folder}/old.txt`];
  return [
    [make.write(a), make.write(b), make.write(old)],
    [make.read(a), make.read(b), make.read(old)],
    [make.edit(a)],
    ...(random.chance(0.5) ? [[make.edit(b), make.edit(a)]] : []),
    [make.patch([a, b], `${folder}/added.txt`, random.chance(0.5) ? [old] : [])],
    [make.read(a), make.read(b)],
    [make.edit(a)],
    [make.read(a)],
  ];
}

function mixed(random: Random, make: CallMaker, folder: string): Step[] {
  const path = `${folder}/notes.txt`;
  return [
    [make.write(path), bash(random, make)],
    [make.read(path), make.edit(path), bash(random, make)],
    [make.read(path)],
  ];
}

function jobs(random: Random, make: CallMaker): Step[] {
  const job = make.job(random.int(5, 60) / 10, random.int(0, 2));
  return [
    [job],
    [bash(random, make)],
    [make.ofJob('job_status', job), make.ofJob('job_output', job)],
    ...(random.chance(0.4) ? [[make.ofJob('job_stop', job)]] : []),
    [bash(random, make), make.ofJob('job_status', job)],
  ];
}

function commits(random: Random, make: CallMaker, folder: string): Step[] {
  const paths = [`${folder}/one.txt`, `${folder}/two.txt`] as const;
  return paths.flatMap((path) => [
    [make.write(path)],
    ...(random.chance(0.3) ? [[bash(random, make)]] : []),
    [make.commit([path])],
  ]);
}

function requests(random: Random, make: CallMaker): Step[] {
  return Array.from({ length: random.int(2, 3) }, () => [make.http(random.int(0, 800))]);
}

function lastAct(random: Random, make: CallMaker): Step[] {
  return [[bash(random, make)], [make.bashLastAct(random.int(1, 10) / 10)], [bash(random, make)]];
}

function bash(random: Random, make: CallMaker): PlannedCall {
  const seconds = random.int(2, 30) / 10;
  return make.bash(seconds, random.chance(0.25) ? random.int(1, 9) : 0, random.chance(0.1) ? 3_000 : 3);
}
