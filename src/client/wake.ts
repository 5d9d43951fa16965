/** A latch of many wake-ups: a sleeper that missed ten of them wakes once, and at once. */
export class Wake {
  #count = 0;
  #sleepers = new Set<() => void>();

  /** How many there have been; take it before looking, and sleep on it after. */
  get count(): number {
    return this.#count;
  }

  /** Wakes whoever sleeps, and whoever looked before this. */
  now(): void {
    this.#count += 1;
    const sleepers = this.#sleepers;
    this.#sleepers = new Set();
    for (const wake of sleepers) wake();
  }

  /** Resolves when there has been a wake-up since `count` was `seen`. */
  async after(seen: number): Promise<void> {
    if (this.#count !== seen) return;
    await new Promise<void>((resolve) => this.#sleepers.add(resolve));
  }
}
