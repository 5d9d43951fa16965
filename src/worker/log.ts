/** The worker's log: what happens in sessions, by kind and size and without the texts, and what Temporal says. */
import { DefaultLogger } from '@temporalio/worker';
import type { Logger as TemporalLogger, LogLevel } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { SessionEvent } from '../domain/event.ts';
import type { Bus } from './bus.ts';

/** Logs each event of the bus. Messages, arguments and outputs are the user's: they stay out. */
export function logBus(bus: Bus, log: Logger): void {
  bus.on('event', (session_id, event) => {
    log.info({ session_id, seq: event.seq, run_id: event.run_id, ...essence(event) }, event.type);
  });
}

/** Temporal's own log lines in ours. */
export function temporalLogger(log: Logger): TemporalLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    const { error, ...rest } = (meta ?? {}) as { error?: unknown };
    // pino writes an error's message and stack only under this name.
    log[LEVELS[level]]({ temporal: rest, ...(error === undefined ? {} : { err: error }) }, message);
  });
}

const LEVELS = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
} as const satisfies {
  [L in LogLevel]: string;
};

function essence(event: SessionEvent): object {
  switch (event.type) {
    case 'tool_call':
      return { call_id: event.call_id, operation_id: event.operation_id, tool: event.tool };
    case 'tool_result':
      return {
        call_id: event.call_id,
        operation_id: event.operation_id,
        status: event.status,
        recovered: event.recovered,
      };
    case 'tool_recovery':
      return { call_id: event.call_id, operation_id: event.operation_id, status: event.status };
    case 'model_called':
      return { operation_id: event.operation_id, model: event.model, through_seq: event.through_seq };
    case 'assistant_message':
      return { operation_id: event.operation_id, usage: event.usage, context_digest: event.context_digest };
    case 'run_finished':
      return { status: event.status, error: event.error };
    default:
      return {};
  }
}
