/** Which messages the model has answered, for whoever waits for that. */
import { EventEmitter, once } from 'node:events';

export class Answers {
  readonly #answered = new Set<string>();
  readonly #changes = new EventEmitter().setMaxListeners(0);

  note(session: number, messages: number[]): void {
    for (const message of messages) this.#answered.add(`${session}/${message}`);
    this.#changes.emit('answer');
  }

  /** Waits for the answer, at most so long. */
  async has(session: number, message: number, patience_ms: number): Promise<boolean> {
    const patience = AbortSignal.timeout(patience_ms);
    while (!this.#answered.has(`${session}/${message}`)) {
      const changed = await once(this.#changes, 'answer', { signal: patience }).catch(() => undefined);
      if (changed === undefined) return false;
    }
    return true;
  }
}
