/** The worker process. It needs TEMPORAL_ADDRESS; HOLDFAST_HOME and TEMPORAL_NAMESPACE have defaults. */
import { pino } from 'pino';
import { locateHome } from '../host/home.ts';
import { runWorker } from './worker.ts';

const log = pino({ name: 'worker' });
const controller = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => controller.abort());

const address = process.env['TEMPORAL_ADDRESS'];
if (address === undefined || address === '') {
  log.fatal(
    'Expected TEMPORAL_ADDRESS, found none. Start the worker with `holdfast up`, or name the service.',
  );
  process.exit(2);
}

try {
  await runWorker({
    home: locateHome(),
    address,
    namespace: process.env['TEMPORAL_NAMESPACE'] || 'default',
    env: process.env,
    log,
    stop: controller.signal,
  });
} catch (error) {
  log.fatal({ err: error }, 'the worker ended');
  process.exitCode = 1;
}
// What the SDK's native part still holds must not keep a stopped worker alive.
process.exit();
