/** Deltas on their way to live clients: well-formed, although servers cut a surrogate pair in two. */
import { cleanText } from './cleanText.ts';
import type { ModelDelta } from './request.ts';

export class DeltaJoiner {
  readonly #emit: (delta: ModelDelta) => void;
  /** A high surrogate that waits for its other half, as a delta. */
  #held: ModelDelta | undefined;

  constructor(emit: (delta: ModelDelta) => void) {
    this.#emit = emit;
  }

  push(delta: ModelDelta): void {
    const held = this.#held?.kind === delta.kind ? this.#held.text : this.#flush();
    const text = held + delta.text;
    const cut = /[\uD800-\uDBFF]$/.test(text) ? text.length - 1 : text.length;
    this.#held = cut < text.length ? { kind: delta.kind, text: text.slice(cut) } : undefined;
    if (cut > 0) this.#emit({ kind: delta.kind, text: cleanText(text.slice(0, cut)) });
  }

  end(): void {
    this.#flush();
  }

  #flush(): '' {
    if (this.#held !== undefined) this.#emit({ ...this.#held, text: cleanText(this.#held.text) });
    this.#held = undefined;
    return '';
  }
}
