/** Random numbers from a seed: the same names give the same numbers, whatever else was drawn before. */
import { createHash } from 'node:crypto';

export class Random {
  #state: number;

  /** `names` tell one stream of numbers from another. */
  constructor(...names: (string | number)[]) {
    this.#state = createHash('sha256').update(JSON.stringify(names)).digest().readUInt32LE(0);
  }

  /** From 0 to below 1 (mulberry32, public domain, by Tommy Ettinger). */
  next(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.int(0, items.length - 1)] ?? items[0];
  }

  /** By weight. */
  weighted<T>(items: readonly { weight: number; value: T }[]): T {
    const [first] = items;
    if (first === undefined) throw new Error('Expected something to choose from, found nothing.');
    let left = this.next() * items.reduce((sum, { weight }) => sum + weight, 0);
    for (const { weight, value } of items) {
      left -= weight;
      if (left < 0) return value;
    }
    return first.value;
  }
}
