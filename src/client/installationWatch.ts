/**
 * Whether an installation that stopped answering has to be repaired by whoever waits for it. While its
 * supervisor lives, that repairs it; and what `holdfast down` takes down must stay down.
 */
import type { Home } from '../host/home.ts';
import { readFileIfThere } from '../host/files.ts';

/** `down` removes the state file at once after the supervisor has ended. */
const CRASHED_AFTER_MS = 2_000;

export class InstallationWatch {
  readonly #home: Home;
  #deadSince: number | null = null;

  constructor(home: Home) {
    this.#home = home;
  }

  /** True when there is something to find or repair: it runs (maybe elsewhere), or its supervisor has crashed. */
  async needsRepair(): Promise<boolean> {
    const { readRunning, readStatus } = await import('../server/installation.ts');
    if ((await readRunning(this.#home, false)) !== undefined) return true;
    if ((await readStatus(this.#home)).supervisor !== null || (await this.#wasTakenDown())) {
      this.#deadSince = null;
      return false;
    }
    this.#deadSince ??= performance.now();
    return performance.now() - this.#deadSince >= CRASHED_AFTER_MS;
  }

  async #wasTakenDown(): Promise<boolean> {
    return (await readFileIfThere(this.#home.stateFile)) === undefined;
  }
}
