/** Which Temporal CLI is good enough, and which one is fetched where there is none. */
import { execa } from 'execa';
import { serverEnvironment } from './serverCommand.ts';

/** The version that is downloaded, and that every measurement in the design was made with. */
export const PINNED_CLI_VERSION = '1.9.1';

/**
 * The oldest version (it holds server 1.29.1) on which every flag of serverCommand.ts was tried: accepted,
 * bound to 127.0.0.1 alone, and the retention of 100 years taken.
 */
export const MINIMUM_CLI_VERSION = '1.5.1';

/** The binary is 150 MB and may have to come from a slow disk. */
const VERSION_TIMEOUT_MS = 20_000;

/** What `temporal --version` says, or why it is of no use. */
export type VersionCheck =
  | { ok: true; version: string; serverVersion: string }
  | { ok: false; found: string };

/** Runs `path --version`. Never rejects: what is wrong is said in `found`. */
export async function checkVersion(path: string): Promise<VersionCheck> {
  const result = await execa(path, ['--version'], {
    reject: false,
    stdin: 'ignore',
    timeout: VERSION_TIMEOUT_MS,
    env: serverEnvironment(process.env),
    extendEnv: false,
  });
  if (result.failed) return { ok: false, found: `${path}: --version failed: ${result.shortMessage}` };
  return readVersion(path, result.stdout);
}

/** Reads `temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)`. */
function readVersion(path: string, output: string): VersionCheck {
  const [, version, serverVersion] = /^temporal version (\S+) \(Server ([^,)\s]+)/m.exec(output) ?? [];
  if (version === undefined || serverVersion === undefined) {
    return {
      ok: false,
      found: `${path}: not the Temporal CLI: it printed ${JSON.stringify(output.slice(0, 80))}`,
    };
  }
  if (compareVersions(version, MINIMUM_CLI_VERSION) < 0) {
    return { ok: false, found: `${path}: version ${version}, older than ${MINIMUM_CLI_VERSION}` };
  }
  return { ok: true, version, serverVersion };
}

/** Negative when `a` is older than `b`. What follows the three numbers (`-rc.1`) does not count. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)];
  for (const index of [0, 1, 2]) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function numbers(version: string): number[] {
  return version.replace(/^v/, '').split(/[-+]/, 1)[0]?.split('.').map(Number) ?? [];
}
