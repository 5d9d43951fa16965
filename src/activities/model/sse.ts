/**
 * Server-sent events from text that arrives in any pieces (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 * The SDK's own decoder hides the bytes, the comments that keep a connection open and `[DONE]`; the
 * stall watch and the check for a whole reply need them.
 */

export interface ServerSentEvent {
  /** Empty where the server names none. */
  event: string;
  data: string;
}

export class SseDecoder {
  /** Pieces of the line under way; joined at its end, since one line may be megabytes long. */
  #line: string[] = [];
  #endedByCr = false;
  #event = '';
  #data: string[] = [];

  /** The events that are complete after `text`. */
  push(text: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    // A CR at the end of a piece has ended its line; the LF of the pair begins the next piece.
    const rest = this.#endedByCr && text.startsWith('\n') ? text.slice(1) : text;
    if (text !== '') this.#endedByCr = text.endsWith('\r');
    const lines = rest.split(/\r\n|\n|\r/);
    for (const [index, piece] of lines.entries()) {
      this.#line.push(piece);
      if (index < lines.length - 1) this.#endLine(events);
    }
    return events;
  }

  /** The last event, where the server ended without the empty line. */
  end(): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    this.#endLine(events);
    this.#dispatch(events);
    return events;
  }

  #endLine(events: ServerSentEvent[]): void {
    const line = this.#line.join('');
    this.#line = [];
    if (line === '') {
      this.#dispatch(events);
      return;
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
  }

  #dispatch(events: ServerSentEvent[]): void {
    if (this.#data.length > 0) events.push({ event: this.#event, data: this.#data.join('\n') });
    this.#event = '';
    this.#data = [];
  }
}
