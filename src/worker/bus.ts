/** The worker's bus: what happens in its sessions, for whoever listens in this process. Nothing is kept. */
import { EventEmitter } from 'node:events';
import type { Delta } from '../activities/deps.ts';
import type { SessionEvent } from '../domain/event.ts';

export interface BusMessages {
  event: [session_id: string, event: SessionEvent];
  delta: [session_id: string, delta: Delta];
}

export type Bus = EventEmitter<BusMessages>;

/** A bus without listeners; it takes any number of them. */
export function createBus(): Bus {
  return new EventEmitter<BusMessages>().setMaxListeners(0);
}
