/** Temporal's own archive of the CLI: a tar.gz with `temporal` and `LICENSE` at its top. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { execa } from 'execa';
import { installIntoCache } from './binaryCache.ts';
import { PINNED_CLI_VERSION } from './version.ts';

/** https://github.com/temporalio/cli, README, "Install via download". */
const ARCHIVE_URL = 'https://temporal.download/cli/archive';
/** Without an answer in this time the next source is tried. */
const ANSWER_TIMEOUT_MS = 10_000;
/** A download that brings nothing for this long is given up. */
const STALL_TIMEOUT_MS = 20_000;
/** The archive has 45 to 60 MB. */
const MAX_ARCHIVE_BYTES = 500 * 1024 * 1024;
const UNPACK_TIMEOUT_MS = 120_000;

export interface InstallOptions {
  env: NodeJS.ProcessEnv;
  progress: (line: string) => void;
}

/**
 * Downloads the pinned version into the cache. Temporal publishes no digest beside it: what vouches for it
 * is TLS and that it says its version. Never rejects: what went wrong is in `found`.
 */
export async function installFromArchive(
  options: InstallOptions & { url?: string },
): Promise<{ path: string } | { found: string }> {
  const platform = process.platform === 'darwin' ? 'darwin' : 'linux';
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const url = `${options.url ?? ARCHIVE_URL}/v${PINNED_CLI_VERSION}?platform=${platform}&arch=${arch}`;
  options.progress(`Downloading the Temporal CLI ${PINNED_CLI_VERSION} from ${url}`);
  try {
    const path = await installIntoCache(options.env, async (folder) => {
      const archive = join(folder, 'temporal.tar.gz');
      await download(url, archive);
      await execa('tar', ['-xzf', archive, '-C', folder, 'temporal'], {
        timeout: UNPACK_TIMEOUT_MS,
        stdin: 'ignore',
      });
      return join(folder, 'temporal');
    });
    return { path };
  } catch (error) {
    return { found: `${url}: ${reason(error)}` };
  }
}

async function download(url: string, path: string): Promise<void> {
  const abort = new AbortController();
  const stop = (what: string, ms: number): NodeJS.Timeout =>
    setTimeout(() => abort.abort(new Error(`${what} for ${ms / 1000} s`)), ms);
  let timer = stop('no answer', ANSWER_TIMEOUT_MS);
  try {
    const response = await fetch(url, { signal: abort.signal });
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
    let bytes = 0;
    const watch = new Transform({
      transform(chunk: Uint8Array, _encoding, done) {
        clearTimeout(timer);
        timer = stop('nothing arrived', STALL_TIMEOUT_MS);
        bytes += chunk.length;
        done(bytes > MAX_ARCHIVE_BYTES ? new Error(`more than ${MAX_ARCHIVE_BYTES} bytes`) : null, chunk);
      },
    });
    await pipeline(Readable.fromWeb(response.body), watch, createWriteStream(path), { signal: abort.signal });
  } catch (error) {
    throw abort.signal.aborted ? abort.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

/** One line. `fetch` hides what happened (ECONNREFUSED …) in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`.split('\n', 1)[0] ?? '';
}
