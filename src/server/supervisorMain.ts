/** The supervisor as a process of its own, started by `ensureUp` with one JSON argument. */
import { pino } from 'pino';
import { homeAt } from '../host/home.ts';
import { closeStrayDescriptors } from './strayDescriptors.ts';
import { LOCK_HELD_EXIT_CODE, type SupervisorArguments } from './supervisorArguments.ts';
import { superviseUntil } from './supervise.ts';

closeStrayDescriptors();
const given = JSON.parse(process.argv[2] ?? '{}') as SupervisorArguments;
// stdout is the log file; written at once, since this process may be killed at any moment.
const logger = pino({ base: { pid: process.pid } }, pino.destination({ dest: 1, sync: true }));
const ended = await superviseUntil({
  home: homeAt(given.root),
  binary: given.binary,
  workerEntry: given.worker_entry,
  env: process.env,
  stopSignals: ['SIGTERM', 'SIGINT'],
  log: (line, fields) => logger.info(fields ?? {}, line),
});
process.exit(ended === 'lock held' ? LOCK_HELD_EXIT_CODE : 0);
