/** Any event on one line, for `holdfast events` on a terminal. */
import type { SessionEvent } from '../domain/event.ts';
import type { Styles } from './style.ts';
import { clip, oneLine, plural } from './text.ts';

/** Seq, time, type, and what fits of the rest. */
export function eventText(event: SessionEvent, columns: number, styles: Styles): string {
  const { seq, at, type, run_id: _, ...rest } = event;
  const head = `${String(seq).padStart(4)} ${timeOf(at)} `;
  const room = columns - head.length - type.length - 1;
  const details = room > 3 ? ` ${clip(detailsOf(rest), room)}` : '';
  return `${styles.dim(head)}${styles.name(type)}${details}`;
}

function timeOf(at: string): string {
  const time = new Date(at);
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

/** Texts first: they say most. */
function detailsOf(rest: Record<string, unknown>): string {
  const shown = [
    'text',
    'objective',
    'note',
    'target',
    'output',
    'title',
    'evidence',
    'status',
    'model',
    'reason',
    'delivery',
  ];
  const parts = shown
    .map((key) => rest[key])
    .filter((value): value is string => typeof value === 'string' && value !== '');
  if (Array.isArray(rest['steps'])) parts.push(plural(rest['steps'].length, 'step'));
  return oneLine(parts.join(' | '));
}
